import { expect, test } from "vitest";
import { limitResponse } from "./bounded-fetch.ts";

const LIMITS = { maxBytes: 100, maxEventBytes: 20 };
const STREAM = { "content-type": "text/event-stream" };

/** A body in pieces, as a network delivers it. */
const answer = (pieces: string[], headers: Record<string, string> = {}): Response =>
  new Response(ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))), { status: 203, headers });

test("an answer within the limits is passed on unchanged", async () => {
  const response = limitResponse(answer(["x".repeat(60), "y".repeat(40)], { "x-kept": "yes" }), LIMITS);
  expect(response.status).toBe(203);
  expect(response.headers.get("x-kept")).toBe("yes");
  expect(await response.text()).toBe("x".repeat(60) + "y".repeat(40));
});

test("a larger answer fails with our own error, as JSON and as a stream (T16)", async () => {
  for (const headers of [{}, STREAM]) {
    const response = limitResponse(
      answer(
        Array.from({ length: 20 }, () => "data: x\n\n"),
        headers,
      ),
      LIMITS,
    );
    await expect(response.text()).rejects.toMatchObject({ code: "EXECUTION_ERROR" });
  }
});

test("a stream fails with an event that does not end, not with many short events (T16)", async () => {
  const long = answer(["data: x\n\n", "data: ", "y".repeat(10), "y".repeat(10)], STREAM);
  await expect(limitResponse(long, LIMITS).text()).rejects.toMatchObject({ code: "EXECUTION_ERROR" });
  for (const end of ["\n\n", "\r\n\r\n"]) {
    const short = Array.from({ length: 7 }, () => `data: x${end}`);
    expect(await limitResponse(answer(short, STREAM), LIMITS).text()).toBe(short.join(""));
  }
});

test("an answer without a body is returned as it is", () => {
  const empty = new Response(null, { status: 204 });
  expect(limitResponse(empty, LIMITS)).toBe(empty);
});

/** All methods that read a body. */
const READERS: Record<string, (response: Response) => Promise<unknown>> = {
  text: (response) => response.text(),
  json: (response) => response.json(),
  bytes: (response) => response.bytes(),
  arrayBuffer: (response) => response.arrayBuffer(),
  blob: (response) => response.blob(),
  clone: (response) => response.clone().text(),
  body: (response) => new Response(response.body).text(),
  "text after body was accessed": (response) => (response.body === null ? Promise.resolve("") : response.text()),
};

test.each(Object.entries(READERS))("an answer is limited by every reader: %s (T16)", async (_, read) => {
  const json = [`{"text":"é`, `${"x".repeat(70)}"}`];
  await expect(read(limitResponse(answer(json), LIMITS))).resolves.toBeDefined();
  await expect(read(limitResponse(answer([...json, " ".repeat(100)]), LIMITS))).rejects.toMatchObject({
    code: "EXECUTION_ERROR",
  });
});

test("a character split across chunks is decoded (T16)", async () => {
  const bytes = new TextEncoder().encode("\uFEFFé");
  const pieces = new Response(ReadableStream.from([...bytes].map((byte) => Uint8Array.of(byte))));
  expect(await limitResponse(pieces, LIMITS).text()).toBe("é");
});

test("an answer that passes two limits is counted once and can be read (T16)", async () => {
  const twice = limitResponse(limitResponse(answer([`{"text":"x"}`]), LIMITS), LIMITS);
  expect(await twice.json()).toEqual({ text: "x" });
});
