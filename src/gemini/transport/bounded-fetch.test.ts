import { expect, test } from "vitest";
import { limitResponse } from "./bounded-fetch.ts";

const LIMITS = { maxBytes: 100, maxEventBytes: 20 };
const STREAM = { "content-type": "text/event-stream" };

/** A body in pieces, as a network delivers it. */
const answer = (pieces: string[], headers: Record<string, string> = {}): Response =>
  new Response(ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))), { status: 203, headers });

test("an answer within the limits is passed through unchanged", async () => {
  const response = limitResponse(answer(["x".repeat(60), "y".repeat(40)], { "x-kept": "yes" }), LIMITS);
  expect(response.status).toBe(203);
  expect(response.headers.get("x-kept")).toBe("yes");
  expect(await response.text()).toBe("x".repeat(60) + "y".repeat(40));
});

test("a larger answer is aborted with a sentence of ours, whatever its content (T16)", async () => {
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

test("a stream with an endless event is aborted; one with many events is not (T16)", async () => {
  const long = answer(["data: x\n\n", "data: ", "y".repeat(10), "y".repeat(10)], STREAM);
  await expect(limitResponse(long, LIMITS).text()).rejects.toMatchObject({ code: "EXECUTION_ERROR" });
  for (const end of ["\n\n", "\r\n\r\n"]) {
    const short = Array.from({ length: 7 }, () => `data: x${end}`);
    expect(await limitResponse(answer(short, STREAM), LIMITS).text()).toBe(short.join(""));
  }
});

test("an answer without a body is passed through", () => {
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

test.each(Object.entries(READERS))("an answer ends at the same limit however it is read: %s (T16)", async (_, read) => {
  const json = [`{"text":"é`, `${"x".repeat(70)}"}`];
  await expect(read(limitResponse(answer(json), LIMITS))).resolves.toBeDefined();
  await expect(read(limitResponse(answer([...json, " ".repeat(100)]), LIMITS))).rejects.toMatchObject({
    code: "EXECUTION_ERROR",
  });
});

test("a character that is split by the network is decoded whole (T16)", async () => {
  const bytes = new TextEncoder().encode("\uFEFFé");
  const pieces = new Response(ReadableStream.from([...bytes].map((byte) => Uint8Array.of(byte))));
  expect(await limitResponse(pieces, LIMITS).text()).toBe("é");
});

test("an answer that passes two limits is counted once and can be read (T16)", async () => {
  const twice = limitResponse(limitResponse(answer([`{"text":"x"}`]), LIMITS), LIMITS);
  expect(await twice.json()).toEqual({ text: "x" });
});
