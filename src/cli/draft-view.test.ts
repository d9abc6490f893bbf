import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDraftView } from "./draft-view.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a report that cannot be drawn leaves the screen as it was, also when the timer redraws it (A13)", () => {
  const stream = Object.assign(new PassThrough(), { columns: 80, rows: 24, isTTY: true });
  const view = createDraftView(stream as unknown as NodeJS.WriteStream, {
    log: { divert: () => {} },
    onOpen: () => {},
  });
  let report = (): string => "The bridge opened";
  view.show(() => report());
  vi.advanceTimersByTime(200);
  view.show(() => report());
  const drawn = String(stream.read());
  expect(drawn).toContain("The bridge opened");
  report = () => {
    throw new Error("A half-written table.");
  };
  vi.advanceTimersByTime(2_000);
  expect(stream.read()).toBeNull();
  report = () => "The bridge opened in 1932.";
  vi.advanceTimersByTime(1_000);
  view.end();
  expect(String(stream.read())).toContain("in 1932.");
});
