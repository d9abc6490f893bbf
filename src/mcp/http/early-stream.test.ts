import { expect, test } from "vitest";
import { withEarlyStream } from "./responses.ts";

const MESSAGE = { jsonrpc: "2.0", id: 1, result: { text: "grün 日本\n" } };

test("a quick answer is passed on unchanged (A9)", async () => {
  const quick = Response.json(MESSAGE, { status: 400 });
  expect(await withEarlyStream(Promise.resolve(quick))).toBe(quick);
  await expect(withEarlyStream(Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("a late answer is the only message of a stream that was opened before it (A9)", async () => {
  const late = Promise.withResolvers<Response>();
  const response = await withEarlyStream(late.promise, 0);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const text = response.text();
  late.resolve(Response.json(MESSAGE));
  expect(await text).toBe(`: still working\n\nevent: message\ndata: ${JSON.stringify(MESSAGE)}\n\n`);
});

test("a late stream continues in the stream that was opened before it (A9)", async () => {
  const late = Promise.withResolvers<Response>();
  const response = await withEarlyStream(late.promise, 0);
  const events = "event: message\ndata: {}\n\n";
  late.resolve(new Response(events + events, { headers: { "content-type": "text/event-stream" } }));
  expect(await response.text()).toBe(`: still working\n\n${events}${events}`);
});

test("a late answer to a closed stream, and one that never arrives, do no harm (A9)", async () => {
  const late = Promise.withResolvers<Response>();
  const gone = await withEarlyStream(late.promise, 0);
  await gone.body?.cancel();
  late.resolve(Response.json(MESSAGE));
  const failed = Promise.withResolvers<Response>();
  const response = await withEarlyStream(failed.promise, 0);
  failed.reject(new Error("lost"));
  await expect(response.text()).rejects.toThrow("lost");
  const closed = Promise.withResolvers<Response>();
  const empty = await withEarlyStream(closed.promise, 0);
  closed.resolve(new Response(null, { status: 204 }));
  expect(await empty.text()).toBe(": still working\n\n");
});
