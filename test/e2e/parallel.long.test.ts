/** Several servers on one config directory: the limit of Gemini CLI processes applies to all of them together. */

import { announcedRun } from "../kit/server/server.ts";
import { expect, test, type TestContext } from "vitest";
import { type CliScene, openCliScene, SOON } from "../kit/simulator/cli-scene.ts";
import type { Era, RunningServer } from "../kit/server/server.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";

const WAITING = /^Waiting for a free Gemini CLI slot/;

/** A child that runs long enough to overlap with others. */
const BRIEF = { sleepMs: 150 };

interface Asked {
  query: string;
  structured: Record<string, unknown>;
  waited: boolean;
}

async function ask(server: RunningServer, query: string): Promise<Asked> {
  const messages: string[] = [];
  const { structured } = await server.call("search", { query }, { onProgress: (message) => messages.push(message) });
  return { query, structured, waited: messages.some((message) => WAITING.test(message)) };
}

async function askAllAtOnce(scene: CliScene, count: number, env: Record<string, string> = {}): Promise<Asked[]> {
  const eras: Era[] = ["modern", "legacy", "modern"];
  const servers = await Promise.all(eras.map((era) => scene.server({ era, env })));
  const asking = servers.flatMap((server, at) =>
    Array.from({ length: count }, (_, n) => n)
      .filter((n) => n % servers.length === at)
      .map((n) => ask(server, `What is new in field ${n}?`)),
  );
  return Promise.all(asking);
}

/** The maximum number of concurrent children, by their own records. */
function mostAtOnce(scene: CliScene): number {
  const ends = scene.ends();
  const spans = scene.children().map(({ pid, started_at }) => ({ from: started_at, to: ends.get(pid) ?? "never" }));
  const meeting = ({ from }: { from: string }): number =>
    spans.filter((other) => other.from <= from && from <= other.to).length;
  return Math.max(...spans.map(meeting));
}

function expectEachAnswered(scene: CliScene, asked: Asked[], count: number): void {
  expect(asked).toHaveLength(count);
  for (const { query, structured } of asked) expect(structured).toMatchObject({ success: true, metadata: { query } });
  const prompts = scene.children().map(({ stdin }) => stdin?.text ?? "");
  expect(prompts).toHaveLength(count);
  for (const { query } of asked) expect(prompts.filter((prompt) => prompt.includes(query))).toHaveLength(1);
}

test("20 searches on three servers all are answered, three at a time, and waiting ones say so (C9)", async (context) => {
  const scene = openCliScene(context, BRIEF);
  const asked = await askAllAtOnce(scene, 20);
  expectEachAnswered(scene, asked, 20);
  expect(mostAtOnce(scene)).toBeLessThanOrEqual(3);
  expect(mostAtOnce(scene), "they do work side by side").toBeGreaterThan(1);
  // At least those that found no free slot; a late one may find one immediately.
  expect(asked.filter(({ waited }) => waited).length).toBeGreaterThan(5);
  await scene.expectNothingLeft();
});

test("GEMINI_CLI_MAX_CHILDREN=1 runs strictly one child at a time (C9)", async (context) => {
  const scene = openCliScene(context, BRIEF);
  const asked = await askAllAtOnce(scene, 7, { GEMINI_CLI_MAX_CHILDREN: "1" });
  expectEachAnswered(scene, asked, 7);
  expect(mostAtOnce(scene)).toBe(1);
  await scene.expectNothingLeft();
});

interface Held {
  scene: CliScene;
  holder: RunningServer;
  other: RunningServer;
}

/** One server holds all slots with children that never end. */
async function holdAllSlots(context: TestContext): Promise<Held> {
  const scene = openCliScene(context, { calls: [{ prompt: "hold this slot", hang: true }, {}] });
  const env = { GEMINI_CLI_MAX_CHILDREN: "2" };
  const [holder, other] = await Promise.all([scene.server({ env }), scene.server({ env })]);
  for (const hand of ["left", "right"]) {
    holder.call("search", { query: `Please hold this slot, ${hand} hand` }).catch(() => undefined);
  }
  await waitFor(() => expect(scene.children()).toHaveLength(2), SOON);
  return { scene, holder, other };
}

interface Waiting {
  taskId: string;
  call: Promise<Record<string, unknown> | undefined>;
}

async function startWaiting(server: RunningServer, signal?: AbortSignal): Promise<Waiting> {
  const messages: string[] = [];
  const call = server
    .call(
      "search",
      { query: "What comes after waiting?" },
      { onProgress: (message) => messages.push(message), ...(signal && { signal }) },
    )
    .then(({ structured }) => structured)
    .catch(() => undefined);
  await waitFor(() => expect(messages).toContainEqual(expect.stringMatching(WAITING)), SOON);
  return { taskId: await announcedRun(server.call, messages), call };
}

test("a killed server that held all slots releases them (C9, P2)", async (context) => {
  const { scene, holder, other } = await holdAllSlots(context);
  const { call } = await startWaiting(other);
  expect(scene.children(), "it does wait").toHaveLength(2);
  process.kill(holder.pid, "SIGKILL");
  // The lease of a slot lasts a minute: waiting for its end would take too long.
  const late = new Promise((resolve) => setTimeout(() => resolve("late"), 10_000).unref());
  expect(await Promise.race([call, late])).toMatchObject({ success: true });
  await scene.expectNothingLeft();
});

test("a server that shuts down releases its slots (C9)", async (context) => {
  const { scene, holder, other } = await holdAllSlots(context);
  const { call } = await startWaiting(other);
  await holder.close();
  expect(await call).toMatchObject({ success: true });
  await scene.expectNothingLeft();
});

test("a call that stops waiting for a slot never starts a child (C9, A8)", async (context) => {
  const { scene, holder, other } = await holdAllSlots(context);
  const controller = new AbortController();
  const cancelled = await startWaiting(other, controller.signal);
  controller.abort();
  await waitFor(() => {
    expect(storedRun(scene.configDir, cancelled.taskId)).toMatchObject({ status: "cancelled" });
  }, SOON);
  const interrupted = await startWaiting(other);
  await other.close();
  expect(storedRun(scene.configDir, interrupted.taskId)).toMatchObject({ error_code: "INTERRUPTED" });
  await holder.close();
  expect(scene.children()).toHaveLength(2);
  await scene.expectNothingLeft();
});
