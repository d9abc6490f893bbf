import { expect, test } from "vitest";
import { durationText } from "./duration.ts";

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
