import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAnswer } from "./answers.ts";
import { recoverResearch } from "./correction.ts";
import type { PromptReading } from "./prompt.ts";
import { findOnTheWeb, writeResearch } from "./research.ts";
import type { AnswerName } from "../scenario.ts";

const reading: PromptReading = {
  kind: "deep_search",
  question: 'Why "this" – and not \\ that?',
  round: 1,
  example: undefined,
  wishes: undefined,
  currentResult: undefined,
  invalidOutput: undefined,
  claims: undefined,
  toolResults: [],
};

const research = writeResearch(reading, findOnTheWeb(reading));

const damaged = (answer: AnswerName): string => formatAnswer({ answer }, reading, research).text;

test.each<AnswerName>(["good", "trailing-comma", "unescaped-quotes"])(
  "all research is found in an answer of the form %s",
  (answer) => {
    expect(recoverResearch(damaged(answer))).toMatchObject({
      success: true,
      verified: false,
      report: research.report,
      sources: research.pages.map((page) => page.url),
    });
  },
);

test("the queries are found", () => {
  expect(recoverResearch(damaged("trailing-comma"))?.queries).toEqual(research.queries);
});

test("a truncated report is kept up to its end", () => {
  const recovered = recoverResearch(damaged("truncated"));
  expect(recovered?.report.length).toBeGreaterThan(100);
  expect(research.report.startsWith(recovered?.report ?? "?")).toBe(true);
  expect(recovered?.sources).toEqual([]);
});

test("prose becomes the report, and its links the sources", () => {
  const recovered = recoverResearch("Found it on https://a.example/x (see https://b.example).");
  expect(recovered).toMatchObject({
    report: "Found it on https://a.example/x (see https://b.example).",
    sources: ["https://a.example/x", "https://b.example"],
  });
});

test("prose that quotes a refusal stays the report", () => {
  const text = 'On failure it answers:\n\n```json\n{"success": false, "error": "quota"}\n```\n\nWait a minute then.';
  expect(recoverResearch(text)).toMatchObject({ success: true, report: text });
});

test("nothing is made of an empty text", () => {
  expect(recoverResearch("")).toBeUndefined();
  expect(recoverResearch('{"success": true, "report": "<your whole report>"}')).toBeUndefined();
});

test("a refusal stays a refusal", () => {
  const recovered = recoverResearch('{"success": false, "error": "No page answers this.",}');
  expect(recovered).toMatchObject({ success: false, error: "No page answers this." });
});

test("valid JSON is returned with its report unchanged", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (words) => {
      const report = `Report: ${words}.`;
      expect(recoverResearch(JSON.stringify({ success: true, report }))?.report).toBe(report);
    }),
  );
});
