import { describe, expect, test } from "vitest";
import { numberSources } from "../reports/report.ts";
import { type CitedReport, splitClaims } from "./split-claims.ts";

const SOURCES = numberSources([
  { url: "https://a.example/heat", title: "A" },
  { url: "https://b.example/x", title: "B" },
  { url: "https://c.example/y", title: "C" },
]);

const LIST =
  "\n\n**Sources:**\n\n1. [a](https://a.example/heat)\n2. [b](https://b.example/x)\n3. [c](https://c.example/y)\n";

const split = (report: string, more: Partial<CitedReport> = {}) => splitClaims({ report, sources: SOURCES, ...more });

/** Text and sources of each claim. */
const cited = (report: string, more: Partial<CitedReport> = {}) =>
  split(report, more).map(({ text, sources }) => [text, ...sources]);

describe("the sources of a claim (W1)", () => {
  test.for([
    ["a number before the full stop", `It costs 5 EUR [1]. It is old.${LIST}`],
    ["a number after the full stop", `It costs 5 EUR. [1] It is old.${LIST}`],
    ["Google's mark", `It costs 5 EUR [cite: 1]. It is old.${LIST}`],
    ["Google's mark with its start", `[cite_start]It costs 5 EUR. [cite: 1] It is old.${LIST}`],
    ["a link in the sentence", "It costs 5 [EUR](https://a.example/heat). It is old."],
    ["a link after the sentence", "It costs 5 EUR. [A study of prices](https://a.example/heat) It is old."],
    ["a link in parentheses", "It costs 5 EUR ([A study](https://a.example/heat#x)). It is old."],
    ["a link in parentheses after the sentence", "It costs 5 EUR. ([A study](https://a.example/heat)) It is old."],
    ["the same at the end of a paragraph", "It costs 5 EUR. (see [A](https://a.example/heat))\n\nIt is old."],
    ["a number with a link", "It costs 5 EUR [[1]](https://a.example/heat). It is old."],
    ["an address", "It costs 5 EUR (https://a.example/heat). It is old."],
    ["a defined number", "It costs 5 EUR [1]. It is old.\n\n[1]: https://a.example/heat"],
    ["a footnote", "It costs 5 EUR.[^n] It is old.\n\n[^n]: A page, https://a.example/heat"],
  ])("%s", ([, report = ""]) => {
    expect(cited(report)).toEqual([["It costs 5 EUR.", 1], ["It is old."]]);
  });

  test("a mark cites several sources, and `[cite_start]` several sentences", () => {
    expect(cited(`[cite_start]One is so. Two is so, too. [cite: 1, 3] Three is not [2][3].${LIST}`)).toEqual([
      ["One is so.", 1, 3],
      ["Two is so, too.", 1, 3],
      ["Three is not.", 2, 3],
    ]);
  });

  test("annotations cover the mark or the claim, counted in bytes", () => {
    const before = "Größe ist 5 m. ";
    const claim = "Höhe ist 6 m.";
    const report = `${before}${claim} [cite: 7] Ende ist da.`;
    const marker = { n: 2, start: `${before}${claim} `.length, end: `${before}${claim} [cite: 7]`.length };
    const whole = { n: 3, start: before.length, end: before.length + claim.length };
    expect(split(report, { citations: [marker, whole] })).toMatchObject([
      { text: "Größe ist 5 m.", sources: [], googleSources: [] },
      { text: claim, sources: [3, 2], googleSources: [3, 2] },
      { text: "Ende ist da.", sources: [] },
    ]);
  });

  test("grounding supports are found by their text, even if it is escaped JSON", () => {
    const report = 'Größe ist "5 m".\n\nHöhe ist 6 m [1].';
    const supports = [{ text: String.raw`Gr\u00f6\u00dfe ist \"5 m\".\n\n`, urls: ["https://b.example/x#part"] }];
    expect(split(report, { supports, isNumbered: true })).toMatchObject([
      { sources: [2], googleSources: [2] },
      { sources: [1], googleSources: [] },
    ]);
  });

  test("a number that nothing explains cites nothing", () => {
    expect(cited("It costs 5 EUR [1]. See array[1] of [2024].")).toEqual([
      ["It costs 5 EUR."],
      ["See array[1] of [2024]."],
    ]);
    expect(cited("It costs 5 EUR [1].", { isNumbered: true })).toEqual([["It costs 5 EUR.", 1]]);
  });
});

describe("what a claim depends on (W1)", () => {
  test("headings, introductions and labels of list items", () => {
    const report = `# Pumps\n\n## Norway\n\nThe figures are:\n\n- **Price:** 5 EUR [1]\n- Noise\n  - 40 dB at night [2]\n${LIST}`;
    expect(split(report)).toMatchObject([
      { text: "5 EUR", headings: ["Pumps", "Norway"], context: ["The figures are", "Price"], sources: [1] },
      { text: "40 dB at night", context: ["The figures are", "Noise"], sources: [2] },
    ]);
  });

  test("heads of rows and columns; a column of sources belongs to its row", () => {
    const report = `| Model | Price | Noise | Source |\n|-|-|-|-|\n| X1 | 5 EUR | 40 dB [2] | [1] |\n| **X2** [3] | – | 50 dB | |\n| X3 | 7 EUR | 60 dB | [1] |\n${LIST}`;
    expect(split(report)).toMatchObject([
      { text: "5 EUR", context: ["X1", "Price"], sources: [1] },
      { text: "40 dB", context: ["X1", "Noise"], sources: [2, 1] },
      { text: "50 dB", context: ["X2", "Noise"], sources: [3] },
      { text: "Price: 7 EUR | Noise: 60 dB", context: ["X3"], sources: [1] },
    ]);
  });

  test("its range in the report", () => {
    const report =
      "> - Größe **ist** [5 m](https://a.example/heat).\r\n\r\nZweiter Satz\nüber zwei Zeilen [1]. Dritter Satz.";
    expect(split(report).map(({ start, end }) => report.slice(start, end))).toEqual([
      "Größe **ist** [5 m](https://a.example/heat).",
      "Zweiter Satz\nüber zwei Zeilen [1].",
      "Dritter Satz.",
    ]);
  });
});

test("headings, code, questions and the report's own list are no claims (W1)", () => {
  const report =
    "# A title is here\n\nIs it so?\n\n```\nThis is code.\n```\n\n    code, too\n\nIt is so.\n\n## Références\n\n- [a](https://a.example/heat) is a page.\n";
  expect(cited(report)).toEqual([["It is so."]]);
});

test("sentences do not end at abbreviations, ordinals and decimal points (W1)", () => {
  expect(
    cited(
      "Am 14. April 2026 kam z. B. Dr. Müller aus St. Gallen. Prof. J. Smith paid approx. 3.5 Mio. EUR to Co. Ltd. in the U.S. market. 前年より減った。次だ、と述べた。",
    ).flat(),
  ).toEqual([
    "Am 14. April 2026 kam z. B. Dr. Müller aus St. Gallen.",
    "Prof. J. Smith paid approx. 3.5 Mio. EUR to Co. Ltd. in the U.S. market.",
    "前年より減った。",
    "次だ、と述べた。",
  ]);
});

test("a claim ends within the report, although the parser expands a tab in it (W1)", () => {
  const report = "- s\n\tis";
  expect(splitClaims({ report, sources: [] })).toMatchObject([{ start: 2, end: report.length }]);
});

test("no claim, heading or label ends in half a character (W1)", () => {
  const heading = `# ${"x".repeat(199)}😀 of the lake`;
  const report = `${heading}\n\nIt is 42 metres deep.\n\n- ${"y".repeat(199)}😀\n\n  - It is cold.\uDE00\n\tAnd old.`;
  const claims = splitClaims({ report, sources: [] });
  expect(claims.length).toBeGreaterThan(1);
  for (const { text, headings, context } of claims) {
    expect([text, ...headings, ...context].join("").isWellFormed()).toBe(true);
  }
  expect(claims[0]?.headings).toEqual(["x".repeat(199)]);
});
