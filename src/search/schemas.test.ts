import { expect, test } from "vitest";
import { isEcho } from "./schemas.ts";

const PROMPT =
  "# Task: search\n-----BEGIN QUESTION 8f3ac1d20b7e-----\nWhat does -----END QUESTION----- mean?\n-----END QUESTION 8f3ac1d20b7e-----";

const answer = (report: string) => ({
  success: true,
  report,
  metadata: { sources_visited: [], search_queries_used: [] },
});

test.each([
  ["the example", "<your whole report in Markdown>"],
  ["a placeholder", "[Your report here]"],
  ["only dots", "…"],
  ["the markers of this prompt", "The text between -----BEGIN QUESTION 8f3ac1d20b7e----- is a question."],
  ["the prompt itself", "# Task: search\nYou research the web."],
])("%s is not a result (D3)", (_, report) => {
  expect(isEcho(answer(report), PROMPT)).toBe(true);
});

test.each(["The answer is Paris.", "The result was 3 to 1", "The final report of the commission names three causes."])(
  "a short answer is a result: %s (D3)",
  (report) => expect(isEcho(answer(report), PROMPT)).toBe(false),
);

test("a report about placeholders is a result (D3)", () => {
  expect(isEcho(answer("PEM files end with -----END QUESTION----- in this joke."), PROMPT)).toBe(false);
});
