/** Shares of the rate by owner: small owners get what they can use, large ones share the rest. */

import { expect, test } from "vitest";
import { fairIntervals, priorityOf } from "./poller.ts";

const intervals = (runs: Record<string, number>, rate: number) =>
  Object.fromEntries(
    [...fairIntervals({ runsOf: new Map(Object.entries(runs)), rate, minIntervalMs: 10_000 })].map(([owner, ms]) => [
      owner,
      Math.round(ms / 1_000),
    ]),
  );

test("every run is polled at the shortest interval while the rate allows it (P7)", () => {
  expect(intervals({ one: 50, other: 800 }, 100)).toEqual({ one: 10, other: 10 });
});

test("an owner with few runs keeps that interval beside one with thousands (P7)", () => {
  expect(intervals({ many: 9_950, few: 50 }, 100)).toEqual({ few: 10, many: 111 });
  expect(intervals({ one: 5_000, other: 5_000 }, 100)).toEqual({ one: 105, other: 105 });
});

test("all polls together stay below the rate (P7)", () => {
  const runsOf = new Map(Array.from({ length: 40 }, (_, n) => [`owner ${n}`, 1 + n * n]));
  const ms = fairIntervals({ runsOf, rate: 20, minIntervalMs: 10_000 });
  const perSecond = [...runsOf].reduce((sum, [owner, runs]) => sum + (runs * 1_000) / (ms.get(owner) ?? 0), 0);
  expect(perSecond).toBeGreaterThan(18.9);
  expect(perSecond).toBeLessThan(20);
});

test("polls of owners with few runs come first among those that are due (P7)", () => {
  expect([1, 2, 50, 9_950].map(priorityOf)).toEqual([-0, -1, -5, -13]);
});
