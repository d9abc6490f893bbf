import { expect, onTestFinished, test } from "vitest";
import { createWatchedStreams } from "./watched-streams.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

function openStreams(lingerMs: number) {
  const opened: { interactionId: string; signal: AbortSignal; end: () => void }[] = [];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const watch = createWatchedStreams({
    follow: ({ interactionId }, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      opened.push({ interactionId, signal, end: resolve });
      signal.addEventListener("abort", () => resolve(), { once: true });
      return promise;
    },
    onChange: () => {},
    leaving: leaving.signal,
    lingerMs,
  });
  const watchRun = (interactionId: string) =>
    watch({ taskId: `task of ${interactionId}`, interactionId, model: "an-agent", part: "question" });
  return { opened, watchRun };
}

test("thirty-three starts in a row, each watched only during its call, all get a stream (J3)", () => {
  const { opened, watchRun } = openStreams(60_000);
  for (let n = 0; n < 40; n += 1) {
    const unwatch = watchRun(`v1_${n}`);
    expect(unwatch, `start ${n}`).toBeTypeOf("function");
    unwatch?.();
  }
  expect(opened).toHaveLength(40);
  expect(opened.filter(({ signal }) => !signal.aborted)).toHaveLength(32);
});

test("a stream stays open between two calls that watch it, and is closed after the last (J3)", async () => {
  const { opened, watchRun } = openStreams(50);
  watchRun("v1_a")?.();
  const unwatch = watchRun("v1_a");
  expect(opened).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(opened[0]?.signal.aborted).toBe(false);
  unwatch?.();
  await waitFor(() => expect(opened[0]?.signal.aborted).toBe(true));
});

test("a stream that ended is opened again by the next watcher (J3)", async () => {
  const { opened, watchRun } = openStreams(60_000);
  watchRun("v1_a");
  opened[0]?.end();
  await waitFor(() => {
    watchRun("v1_a");
    expect(opened).toHaveLength(2);
  });
});
