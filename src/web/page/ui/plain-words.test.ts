import { expect, test } from "vitest";
import { plainAdvice, plainWords, withoutNames } from "./plain-words.ts";

test.each([
  ["Nothing was charged.", "Nothing was charged."],
  ["What was received is kept; resume_research polls it again.", "What was received is kept."],
  ["The research timed out. resume_research checks again.", "The research timed out."],
  [
    "It may have been charged. resume_research polls it; a new start is charged again.",
    "It may have been charged. A new start is charged again.",
  ],
  ["There is no run with this task_id.", "There is no run with this run id."],
])("%j is shown as %j", (text, shown) => {
  expect(plainWords(text)).toBe(shown);
});

test("an explanation keeps its clauses, with words for the names", () => {
  const text =
    "Suited to start_deep_research; deep_search covers most of it. Start it, then use check_research_status.";
  expect(withoutNames(text)).toBe(
    "Suited to Deep Research; deep search covers most of it. Start it, then use this page.",
  );
});

test("advice that only names tools is left out", () => {
  expect(plainAdvice("get_research_results returns its report.")).toBeUndefined();
  expect(plainAdvice(undefined)).toBeUndefined();
  expect(plainAdvice("It may be charged. resume_research checks again.")).toBe("It may be charged.");
});
