import { expect, test } from "vitest";
import { minutesLeft, timeLeftText } from "./time-left.ts";

const MINUTE_MS = 60_000;
const leftAfter = (minutes: number, progress: number, usual = { likely: 20, max: 60 }): number =>
  minutesLeft({ progress, elapsedMs: minutes * MINUTE_MS, usual });

test("the time left falls as the progress rises, whatever has passed (J2)", () => {
  expect([0, 10, 50, 73, 90, 99].map((progress) => leftAfter(0, progress))).toEqual([20, 18, 10, 5, 2, 1]);
});

test("the time left falls as time passes, although nothing of the work was seen (J2)", () => {
  expect([0, 5, 10, 20, 30, 50].map((minutes) => leftAfter(minutes, 0))).toEqual([20, 16, 12, 7, 4, 2]);
});

test("the time left never exceeds the usual time, and is at least a minute within it (J2)", () => {
  const usual = { likely: 20, max: 22 };
  expect([10, 15, 18, 21.9].map((minutes) => leftAfter(minutes, 0, usual))).toEqual([12, 7, 4, 1]);
});

test("past the usual time no number is given, but that it takes longer (J2)", () => {
  expect([60, 61, 600].map((minutes) => leftAfter(minutes, 90))).toEqual([0, 0, 0]);
  expect([0, 1, 7, 75].map(timeLeftText)).toEqual([
    "longer than usual",
    "about 1 min left",
    "about 7 min left",
    "about 1 h 15 min left",
  ]);
});
