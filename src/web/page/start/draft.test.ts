import { expect, test } from "vitest";
import { DEPTHS, draftOf, draftProblem, EMPTY, estimateKey } from "./draft.ts";

const [SEARCH, , RESEARCH, MAX] = DEPTHS.map(({ depth }) => depth);
const draft = { ...EMPTY, depth: RESEARCH ?? "", query: "How do heat pumps work?" };

test("a question has 1 to 10,000 characters with a letter or digit, surrounding spaces not counted (F1)", () => {
  expect(draftProblem({ ...draft, query: "   " })).toBe("Enter a question to continue.");
  expect(draftProblem({ ...draft, query: "?!" })).toMatch("letter or digit");
  for (const query of ["Go", " C# ", "地震", "7"]) expect(draftProblem({ ...draft, query })).toBeUndefined();
  expect(draftProblem({ ...draft, query: ` ${"a".repeat(10_000)} ` })).toBeUndefined();
  expect(draftProblem({ ...draft, query: "a".repeat(10_001) })).toMatch("10,000 characters");
});

test.each([0, 73, 1.5, Number.NaN])("%d hours are refused before the server is asked", (hours) => {
  expect(draftProblem({ ...draft, hours })).toMatch("from 1 to 72");
});

test("the hours of a search do not matter: it ends within minutes", () => {
  expect(draftProblem({ ...draft, depth: SEARCH ?? "", hours: Number.NaN })).toBeUndefined();
});

test.each([
  ["search", undefined, SEARCH],
  ["deep_search", "gemini-flash-latest", "deep_search"],
  ["deep_research", undefined, "deep_search"],
  ["agent", MAX, MAX],
  ["agent", "deep-research-pro-preview-12-2025", RESEARCH],
] as const)("a %s by %s is asked again at depth %s", (kind, model, depth) => {
  const run = { query: draft.query, kind, ...(model === undefined ? {} : { model }) };
  expect(draftOf(run)).toEqual({ ...EMPTY, query: draft.query, depth });
});

test("a question is asked again with the wishes that it had (V6)", () => {
  const wishes = { language: "de", prefer_domains: ["nature.com", "who.int"] };
  expect(draftOf({ query: draft.query, kind: "search", wishes })).toEqual({ ...EMPTY, query: draft.query, wishes });
});

test("an estimate is for the question, agent and hours that identify the start", () => {
  expect(estimateKey({ ...draft, query: `${draft.query}\n`, notify: false })).toBe(estimateKey(draft));
  expect(estimateKey({ ...draft, depth: MAX ?? "" })).not.toBe(estimateKey(draft));
  expect(estimateKey({ ...draft, hours: 2 })).not.toBe(estimateKey(draft));
  expect(estimateKey({ ...draft, wishes: { length: "short" } })).not.toBe(estimateKey(draft));
});
