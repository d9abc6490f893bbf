import { expect, test } from "vitest";
import { agoText, durationText } from "./duration.ts";

test.each([
  [-5, "0 s"],
  [9_400, "9 s"],
  [59_600, "1 min"],
  [840_000, "14 min"],
  [3_599_000, "1 h"],
  [5_400_000, "1 h 30 min"],
])("%d ms are %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [-1, "less than a minute ago"],
  [59_999, "less than a minute ago"],
  [60_000, "a minute ago"],
  [1_800_000, "30 minutes ago"],
  [3_600_000, "an hour ago"],
  [259_200_000, "3 days ago"],
])("%d ms is %s", (ms, text) => {
  expect(agoText(ms)).toBe(text);
});
