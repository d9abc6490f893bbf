import { expect, test } from "vitest";
import { plainAdvice, plainWords } from "./plain-words.ts";

test.each([
  ["Nothing was charged.", "Nothing was charged."],
  ["What was received is kept; resume_research polls it again.", "What was received is kept."],
  ["The research timed out. resume_research checks again.", "The research timed out."],
  ["There is no run with this task_id.", "There is no run with this run id."],
])("%j is shown as %j", (text, shown) => {
  expect(plainWords(text)).toBe(shown);
});

test("advice that only names tools is left out", () => {
  expect(plainAdvice("get_research_results returns its report.")).toBeUndefined();
  expect(plainAdvice(undefined)).toBeUndefined();
  expect(plainAdvice("It may be charged. resume_research checks again.")).toBe("It may be charged.");
});
