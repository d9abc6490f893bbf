/** Tests the extractor with the corpus, with generated documents, and with hostile text. */

import { describe, expect, it } from "vitest";

import { extractJsonFromOutput } from "../../src/search/extract-json.ts";
import { DEEP_SEARCH_SCHEMA, SEARCH_SCHEMA } from "../../src/search/schemas.ts";
import { generateCase } from "./corrupt.ts";
import { HOSTILE, MEGABYTE } from "./hostile-texts.ts";
import { processorMs } from "../kit/clock/time-limits.ts";
import type { CorpusCase } from "./corpus-case.ts";
import { asExpected, judge, type Verdict } from "./judge.ts";
import { MALFORMED_ANSWERS } from "./malformed-answers.ts";

/** The share of recoverable answers that must be read exactly. */
const ENOUGH = 0.98;
/** The maximum number of failures in a message. */
const LISTED = 20;

interface Judged {
  item: CorpusCase;
  verdict: Verdict;
  repaired: boolean;
  got: string;
}

function judgeAll(cases: readonly CorpusCase[]): Judged[] {
  return cases.map((item) => {
    const schema = item.schema === "search" ? SEARCH_SCHEMA : DEEP_SEARCH_SCHEMA;
    const extraction = extractJsonFromOutput(item.output, schema);
    const answer = extraction.kind === "valid" ? extraction.answer : undefined;
    return {
      item,
      verdict: judge(item, answer),
      repaired: extraction.kind === "valid" && extraction.repaired,
      got: extraction.kind === "valid" ? describeAnswer(asExpected(extraction.answer)) : extraction.reason,
    };
  });
}

const describeAnswer = (answer: CorpusCase["expected"]): string => JSON.stringify(answer).slice(0, 400);

/** A few lines per case, so that a failing assertion shows the differences. */
const listed = (judged: readonly Judged[], ...verdicts: Verdict[]): string[] =>
  judged
    .filter(({ verdict }) => verdicts.includes(verdict))
    .slice(0, LISTED)
    .map(
      ({ item, verdict, got }) =>
        `${verdict}: ${item.id} (${item.family})\n  got ${got}\n  expected ${describeAnswer(item.expected)}`,
    );

/** Empty if enough was recovered; otherwise the share and the missed cases. */
function shortfall(judged: readonly Judged[]): string[] {
  const recoverable = judged.filter(({ item }) => item.expected !== null).length;
  const recovered = judged.filter(({ verdict }) => verdict === "recovered").length;
  if (recovered / recoverable >= ENOUGH) return [];
  return [`${recovered} of ${recoverable} recovered`, ...listed(judged, "wrong", "nothing")];
}

describe("the written corpus", () => {
  const judged = judgeAll(MALFORMED_ANSWERS);

  it("at least 98 % of the recoverable answers are read exactly (D1, D2)", () => {
    expect(shortfall(judged)).toEqual([]);
  });

  it("no answer is read wrongly (D1, D2)", () => {
    expect(listed(judged, "wrong")).toEqual([]);
  });

  it("nothing is accepted that is no answer (D3, D5)", () => {
    expect(listed(judged, "false accept")).toEqual([]);
  });

  it("valid JSON is never repaired, and repaired JSON is marked (D1)", () => {
    const clean = judged.filter(({ item }) => item.family === "clean");
    expect(clean.filter(({ repaired }) => repaired).map(({ item }) => item.id)).toEqual([]);
    const broken = judged.filter(({ item, verdict }) => item.family === "trailing-commas" && verdict === "recovered");
    expect(broken.filter(({ repaired }) => !repaired).map(({ item }) => item.id)).toEqual([]);
  });
});

describe("2,000 generated documents", () => {
  // A different range than the bench uses, so that tuning on its table is not tuning on the test.
  const judged = judgeAll(Array.from({ length: 2000 }, (_, index) => generateCase(1_000_000 + index)));

  it("at least 98 % of the recoverable ones are read exactly (D1, D2)", () => {
    expect(shortfall(judged)).toEqual([]);
  });

  it("less than 1 % are read wrongly (D1, D2)", () => {
    const wrong = judged.filter(({ verdict }) => verdict === "wrong");
    expect(wrong.length < judged.length / 100 ? [] : listed(judged, "wrong")).toEqual([]);
  });

  it("none that was cut inside its report is accepted (D5)", () => {
    expect(listed(judged, "false accept")).toEqual([]);
  });
});

describe("hostile text (D4)", () => {
  /** Detects a hang: linear code needs a thirtieth of this on a busy machine. The bench prints the figures. */
  const HANGS_MS = 15_000;

  // Starts with small sizes, so that quadratic code fails in seconds instead of hanging for hours.
  it.each(Object.entries(HOSTILE))("%s, up to 10 MB, does not block the reader", { timeout: 180_000 }, (_, make) => {
    for (const part of [32, 8, 1]) {
      const text = make((10 * MEGABYTE) / part);
      const ms = processorMs(() => expect(extractJsonFromOutput(text, SEARCH_SCHEMA).kind).toBe("invalid"));
      expect(ms, `at one part of ${part}`).toBeLessThan(HANGS_MS);
    }
  });

  it("a valid answer behind 5 MB of noise, and longer than that, is found", { timeout: 60_000 }, () => {
    const report = "Found. ".repeat(MEGABYTE);
    const answer = JSON.stringify({ success: true, report, metadata: {} });
    const missed = ["so {we} say ", '{"a":1} ', "word ", "\n"].filter((noise) => {
      const output = `${noise.repeat((5 * MEGABYTE) / noise.length)}\n\`\`\`json\n${answer}\n\`\`\`\n`;
      const extraction = extractJsonFromOutput(output, SEARCH_SCHEMA);
      return extraction.kind === "invalid" || extraction.answer.report !== report;
    });
    expect(missed).toEqual([]);
  });

  it("Object.prototype is unchanged (T24)", () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    judgeAll(MALFORMED_ANSWERS.filter(({ output }) => /__proto__|constructor/.test(output)));
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect("polluted" in {}).toBe(false);
  });
});
