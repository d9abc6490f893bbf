/** Tests how the fleet bench evaluates recorded polls. */

import { expect, test } from "vitest";
import { gapsOf, latenessOf, lateAfter, maxInOneSecond, perSecond } from "../../bench/fleet/polls.ts";

const polls = (...times: number[]) => times.map((at) => ({ run: 1, at }));

test("a burst is counted wherever its second begins (P7)", () => {
  expect(maxInOneSecond(polls(0, 900, 950, 1_899, 1_900, 5_000))).toBe(3);
  expect(maxInOneSecond([])).toBe(0);
});

test("the rate counts the polls of the measured time only (P7)", () => {
  expect(perSecond(polls(0, 1_000, 1_500, 2_999, 3_000), { from: 1_000, to: 3_000 })).toBe(1.5);
});

test("a poll is late by the time since it was due, and a missing poll has no lateness (P7)", () => {
  const due = [
    { run: 1, at: 1_000 },
    { run: 2, at: 1_000 },
    { run: 3, at: 1_000 },
  ];
  const seen = [
    { run: 1, at: 1_040 },
    { run: 2, at: 990 },
  ];
  expect(latenessOf(due, seen)).toEqual([40, 0]);
});

test("a run whose polls stop after a disaster is late, one that is still polled is not (P2)", () => {
  const steady = [0, 10, 20, 30, 40].map((second) => ({ run: 1, at: second * 1_000 }));
  const taken = [0, 10, 35].map((second) => ({ run: 2, at: second * 1_000 }));
  const lost = [0, 10].map((second) => ({ run: 3, at: second * 1_000 }));
  const span = { from: 12_000, to: 45_000 };
  expect(lateAfter([...steady, ...taken], span, 13_000)).toEqual({ late: [2], worstMs: 23_000 });
  expect(lateAfter([...steady, ...lost], span, 13_000)).toEqual({ late: [3], worstMs: 33_000 });
  expect(gapsOf([1, 4, 9])).toEqual([3, 5]);
});
