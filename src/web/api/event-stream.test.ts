import { expect, test, vi } from "vitest";
import { type EventSink, eventStream } from "./event-stream.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

const LARGE = "x".repeat(10_000);

function open() {
  const leaving = new AbortController();
  const [stop, onEnd, onCaughtUp] = [vi.fn(), vi.fn(), vi.fn()];
  let sink: EventSink | undefined;
  const onStart = (opened: EventSink): (() => void) => {
    sink = opened;
    return stop;
  };
  const stream = eventStream({ onStart, onCaughtUp, onEnd, signal: leaving.signal });
  const send = (data: unknown, id?: number): boolean => sink?.send("run", data, id) ?? false;
  return { stream, send, leaving, stop, onEnd, onCaughtUp };
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, pieces: number): Promise<string> {
  let text = "";
  for (let count = 0; count < pieces; count += 1) text += new TextDecoder().decode((await reader.read()).value);
  return text;
}

test("a slow reader has a bounded buffer, and is notified when it has caught up (A9)", async () => {
  const { stream, send, onCaughtUp } = open();
  let sent = 0;
  while (send(LARGE)) sent += 1;
  expect(sent).toBeLessThanOrEqual(27);
  for (let more = 0; more < 1_000; more += 1) expect(send(LARGE)).toBe(false);
  const reader = stream.getReader();
  await read(reader, sent + 1);
  await waitFor(() => expect(onCaughtUp).toHaveBeenCalledTimes(1));
  expect(send(LARGE)).toBe(true);
  await reader.cancel();
});

test("an event is one block, whatever its text contains (A9)", async () => {
  const { stream, send } = open();
  send({ text: "a\n\nevent: hello\ndata: {}" }, 7);
  const reader = stream.getReader();
  expect(await read(reader, 2)).toBe(
    'retry: 1000\n\nevent: run\ndata: {"text":"a\\n\\nevent: hello\\ndata: {}"}\nid: 7\n\n',
  );
  await reader.cancel();
});

test("a stream ends once, by the reader or by the process, and sends nothing afterwards (A8)", async () => {
  const byReader = open();
  await byReader.stream.cancel();
  byReader.leaving.abort();
  expect(byReader.stop).toHaveBeenCalledTimes(1);
  expect(byReader.onEnd).toHaveBeenCalledTimes(1);
  expect(byReader.send("late")).toBe(false);
  const byProcess = open();
  byProcess.leaving.abort();
  const reader = byProcess.stream.getReader();
  await read(reader, 1);
  expect((await reader.read()).done).toBe(true);
  expect(byProcess.onEnd).toHaveBeenCalledTimes(1);
});
