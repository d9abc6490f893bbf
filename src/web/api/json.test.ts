import { expect, onTestFinished, test, vi } from "vitest";
import { readJsonBody } from "./json.ts";

const post = (body: ReadableStream<Uint8Array>): Request =>
  new Request("http://127.0.0.1/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    duplex: "half",
  });

/** `{"text":"xxx…"}`, a piece every second. */
function drip(bytesPerSecond: number, seconds: number): ReadableStream<Uint8Array> {
  const pieces = Array.from({ length: seconds }, () => "x".repeat(bytesPerSecond));
  const texts = ['{"text":"', ...pieces, '"}'];
  return new ReadableStream({
    pull: async (controller) => {
      const text = texts.shift();
      if (text === undefined) return controller.close();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      controller.enqueue(Buffer.from(text));
    },
  });
}

test("a body that arrives too slowly is refused after seconds, so that it occupies no upload (T16)", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const slow = readJsonBody(post(drip(1_000, 50)), 1_000_000).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await slow).toMatchObject({ details: { status: 408 } });
  const steady = readJsonBody(post(drip(15_000, 20)), 1_000_000);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await steady).toEqual({ text: "x".repeat(300_000) });
});
