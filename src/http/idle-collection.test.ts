import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createIdleCollection } from "./idle-collection.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("memory is returned once after a load, and not during it or for single requests (A9)", () => {
  const collect = vi.fn<() => void>();
  const onRequest = createIdleCollection({ now: Date.now, collect });
  const receive = (count: number): void => {
    for (let n = 0; n < count; n += 1) onRequest();
  };
  receive(10);
  vi.advanceTimersByTime(120_000);
  expect(collect).not.toHaveBeenCalled();
  for (let second = 0; second < 60; second += 10) {
    receive(1_000);
    vi.advanceTimersByTime(10_000);
  }
  expect(collect).not.toHaveBeenCalled();
  vi.advanceTimersByTime(30_000);
  expect(collect).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(600_000);
  expect(collect).toHaveBeenCalledTimes(1);
});
