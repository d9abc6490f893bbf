/** Checks the corpus itself, because a wrong expectation would hide errors of the extractor. */

import { describe, expect, it } from "vitest";

import { DEEP_SEARCH_SCHEMA, SEARCH_SCHEMA } from "../../src/search/schemas.ts";
import { generateCase } from "./corrupt.ts";
import type { CorpusCase } from "./corpus-case.ts";
import { asExpected, judge } from "./judge.ts";
import { MALFORMED_ANSWERS } from "./malformed-answers.ts";

const GENERATED = Array.from({ length: 2000 }, (_, seed) => generateCase(seed));

const schemaOf = (item: CorpusCase) => (item.schema === "search" ? SEARCH_SCHEMA : DEEP_SEARCH_SCHEMA);

/** The expectation as the answer that a model would have had to give. */
function answerOf(item: CorpusCase) {
  if (item.expected === null) return undefined;
  const { sources_visited, search_queries_used, ...rest } = item.expected;
  return { ...rest, metadata: { sources_visited, search_queries_used } };
}

describe.each([
  ["written", MALFORMED_ANSWERS],
  ["generated", GENERATED],
])("the %s corpus", (_, cases) => {
  it("names every case once", () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  });

  it("expects only what the schema accepts (D2)", () => {
    const recoverable = cases.filter(({ expected }) => expected !== null);
    const parsed = recoverable.map((item) => ({ item, answer: schemaOf(item).parse(answerOf(item)) }));
    for (const { item, answer } of parsed) {
      expect({ id: item.id, ...(answer && asExpected(answer)) }).toEqual({ id: item.id, ...item.expected });
    }
  });

  it("expects a report wherever it expects success (D2)", () => {
    const silent = cases.filter(({ expected }) => expected?.success && (expected.report ?? "").trim() === "");
    expect(silent.map(({ id }) => id)).toEqual([]);
  });
});

describe("the written corpus", () => {
  it("is large enough", () => {
    expect(MALFORMED_ANSWERS.length).toBeGreaterThanOrEqual(110);
    expect(MALFORMED_ANSWERS.filter(({ expected }) => expected).length).toBeGreaterThanOrEqual(90);
  });

  it("never shows an element that was cut (D5)", () => {
    const cut = MALFORMED_ANSWERS.filter(({ family }) => family === "cut-after-report");
    const invented = cut.flatMap(({ id, output, expected }) =>
      [...(expected?.sources_visited ?? []), ...(expected?.search_queries_used ?? [])]
        .filter((element) => !output.includes(`"${element}"`))
        .map((element) => `${id}: ${element}`),
    );
    expect(invented).toEqual([]);
  });

  it("expects no word that the output does not contain", () => {
    // The others use escapes or entities, which a plain text search does not find.
    const literal = MALFORMED_ANSWERS.filter(({ output }) => !/\\u|\\n|&\w+;/.test(output));
    const invented = literal.flatMap(({ id, output, expected }) =>
      (expected?.report?.match(/[\p{L}\p{N}]{3,}/gu) ?? [])
        .filter((word) => !output.includes(word))
        .map((word) => `${id}: ${word}`),
    );
    expect(literal.length).toBeGreaterThan(100);
    expect(invented).toEqual([]);
  });
});

describe("the generator", () => {
  it("is deterministic", () => {
    expect(GENERATED.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, seed) => generateCase(seed)));
  });

  it("draws every corruption, and enough that must be rejected", () => {
    const families = new Set(GENERATED.flatMap(({ family }) => family.split(" + ")));
    expect(families.size).toBeGreaterThanOrEqual(30);
    expect(GENERATED.filter(({ expected }) => expected === null).length).toBeGreaterThan(150);
  });
});

describe("the judge", () => {
  const item: CorpusCase = {
    id: "x",
    family: "x",
    schema: "search",
    output: "",
    expected: { success: true, report: "a", sources_visited: ["s"], search_queries_used: [] },
    alsoFaithful: "b",
  };
  const answer = (report: string, sources = ["s"]) =>
    SEARCH_SCHEMA.parse({ success: true, report, metadata: { sources_visited: sources } });

  it("distinguishes the verdicts", () => {
    expect(judge(item, answer("a"))).toBe("recovered");
    expect(judge(item, answer("b"))).toBe("recovered");
    expect(judge(item, answer("c"))).toBe("wrong");
    expect(judge(item, answer("a", []))).toBe("wrong");
    expect(judge(item, undefined)).toBe("nothing");
    expect(judge({ ...item, expected: null }, answer("a"))).toBe("false accept");
    expect(judge({ ...item, expected: null }, undefined)).toBe("rejected");
  });
});
