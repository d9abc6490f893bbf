import { expect, onTestFinished, test, vi } from "vitest";
import { retryAfterMs } from "./paid-request.ts";

const pause = (headers: Record<string, string>, text = "{}"): number | undefined =>
  retryAfterMs({ headers: new Headers(headers), text });
const info = (delay: string): string => JSON.stringify({ error: { details: [{ retryDelay: delay }] } }, undefined, 1);

test.each([
  ["2", "{}", 2_000],
  ["0", "{}", 0],
  ["-5", "{}", 0],
  ["900", "{}", 900_000],
  ["901", "{}", 900_000],
  ["soon", info("3s"), undefined],
  ["2", info("3s"), 2_000],
])("a pause of %s in the header and %s in the body is %j ms (P4)", (header, body, ms) => {
  expect(pause({ "retry-after": header }, body)).toBe(ms);
});

test.each([
  ["3s", 3_000],
  ["1.25s", 1_250],
  ["34.074824224s", 34_075],
  ["12s", 12_000],
  ["3", undefined],
  ["s", undefined],
])("a pause of %s in the body alone is %j ms (P4)", (delay, ms) => {
  expect(pause({}, info(delay))).toBe(ms);
});

test("a pause may be given as a date (P4)", () => {
  vi.useFakeTimers({ now: Date.parse("2026-11-05T04:00:00Z"), toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  expect(pause({ "retry-after": "Thu, 05 Nov 2026 04:00:30 GMT" })).toBe(30_000);
  expect(pause({ "retry-after": "Thu, 05 Nov 2026 03:00:00 GMT" })).toBe(0);
});
