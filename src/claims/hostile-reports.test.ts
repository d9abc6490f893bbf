/** The time to split and compare hostile text grows with its size, not with the square of it. */

import { expect, test } from "vitest";
import { claimSplitting } from "../../test/fuzz/claim-splitting.ts";
import { compareClaims, comparePage, type ComparisonJob } from "./compare-page.ts";
import { splitClaims } from "./split-claims.ts";

const SOURCES = [{ n: 1, title: "", url: "https://a.example/x", domain: "a.example" }];

const HOSTILE: Record<string, string> = {
  "marks without text": "[1]",
  "marks in lines": "a is b [cite: 1]\n\n",
  "starts of cited text": "[cite_start]a b. ",
  "links begun": "[a](https://a.example/",
  "footnotes begun": "[^a",
  "table cells": "|a|5 [1]|\n",
  abbreviations: "z. B. Dr. ",
  parentheses: "(see ",
  figures: "1,000 million percent from ",
  "nested lists": "- ",
  "words without an end": "a",
};

const SIZE = 75_000;
const ATTEMPTS = 2;

function processorTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function readAll(report: string): void {
  const citations = Array.from({ length: 500 }, (_unused, index) => ({ n: 1, start: 0, end: index * 997 }));
  const supports = Array.from({ length: 200 }, () => ({ text: report.slice(0, 5_000), urls: ["https://a.example/x"] }));
  splitClaims({ report, sources: SOURCES, citations, supports });
  comparePage({ text: report.slice(0, 2_000), context: [] }, { title: "", blocks: [report] });
}

test.for(Object.entries(HOSTILE))("%s (T15, W1)", { timeout: 60_000 }, ([, unit]) => {
  const text = (size: number): string => unit.repeat(Math.ceil(size / unit.length));
  readAll(text(SIZE));
  const short: number[] = [];
  const long: number[] = [];
  // Quadratic time would be four times as long; the constant absorbs what is too short to measure.
  const isLinear = (): boolean => Math.min(...long) < 3 * Math.min(...short) + 50_000;
  while (short.length < ATTEMPTS && !isLinear()) {
    short.push(processorTime(() => readAll(text(SIZE))));
    long.push(processorTime(() => readAll(text(2 * SIZE))));
  }
  expect({ short, long, isLinear: isLinear() }).toMatchObject({ isLinear: true });
});

test.for(["rose by 6 ", "the a of the a's a ", "it may rise in Bell in 2026, and "])(
  "a long claim of repeated words is compared in less than a second: %s (T15, W2)",
  (unit) => {
    for (const words of [55, 300]) {
      const text = `Sales ${unit.repeat(words)}`;
      const page = { title: "Sales", blocks: Array.from({ length: 20 }, (_unused, n) => `${text} by ${n} percent.`) };
      expect(processorTime(() => comparePage({ text, context: [] }, page))).toBeLessThan(1_000_000);
    }
  },
);

test("long gaps in parentheses, and a long claim, take less than a second (T15, W2)", () => {
  const gap = `It is so (${" ".repeat(80_000)}x [1].`;
  expect(processorTime(() => splitClaims({ report: gap, sources: SOURCES, citations: [] }))).toBeLessThan(1_000_000);
  const text = Array.from({ length: 8_000 }, (_unused, n) => `word${n % 900}`).join(" ");
  const page = { title: "", blocks: Array.from({ length: 300 }, (_unused, n) => `${text.slice(n, n + 900)}.`) };
  expect(processorTime(() => comparePage({ text, context: [] }, page))).toBeLessThan(2_000_000);
});

test("a report that fuzzing found is split and compared in less than a second (T15, W2)", async () => {
  const lines = [
    "-  it may f rose \rby 6.2 /)rose \rby 6.2 /)r{y 6.2 /)rose 20t may f 26;  km, in Q1 |aaaaamayit may f 20",
    "-  it may f rose \r.2 /)rose \rby 6.2 /)r{y 6.2 /)rose 20t may f 26;  km, in Q1 |aaaaamayit may f 20",
  ];
  const first =
    "by -_ t it tit t it t it t it t it t it t it t it t it t it t it t it t it tit t it t it t it t it t it t t it t it t it t it t it t it t it t it t it t it t it t it t it t i;t t #it t i`t t it t it t it t it t it t it t it tit t it t it t it t it t it t it t it t it t it t it t it t i it t it t it t Q9007199254740992 it t it tstart]I1.5t is cite_te:cite:cite:cite:cete:cite:cite:cite:cite:cite:cete:cite:cite:`itnue rose by se   it may f rose \rby 6.2 /)rose \rby 6.2 /)r{y 6.2 /)rose 20t may f 26;  km, in Q1 |aaaaamayit may f 20";
  const report = [
    "#\\cite: : ",
    first,
    ...Array.from({ length: 7 }, () => lines).flat(),
    "-  it may f rose \rby 6.2 /)rose \rby 6.2 /)r",
  ].join("\n");
  const { check } = await claimSplitting.open();
  const began = process.cpuUsage();
  await check(report);
  const { user, system } = process.cpuUsage(began);
  expect(user + system).toBeLessThan(1_000_000);
});

function comparisonOf(unit: string, length: number): ComparisonJob {
  const text = unit.repeat(Math.ceil(300_000 / unit.length));
  return {
    page: { title: "", blocks: Array.from({ length: 15_000_000 / length }, () => text.slice(0, length)) },
    claims: Array.from({ length: 200 }, (_unused, n) => ({ text: text.slice(n, n + 1_500), context: [] })),
  };
}

test.for([
  ["clauses", "a, b; ", 300_000],
  ["figures", "5 May 2025 8% ", 300_000],
  ["table cells", "a: b: c: 5 ", 11],
  ["words without an end", "a", 300_000],
  ["sentences", "It is so. ", 300_000],
] as const)("a page of megabytes is compared within seconds: %s (T15, W3)", { timeout: 60_000 }, async (given) => {
  const [, unit, length] = given;
  const began = process.cpuUsage();
  expect(await compareClaims(comparisonOf(unit, length), new AbortController().signal)).toHaveLength(200);
  const { user, system } = process.cpuUsage(began);
  expect(user + system).toBeLessThan(5_000_000);
});

// Only texts that take far longer than the time after which the event loop gets its turn.
test.for([
  ["table cells", "a: b: c: 5 ", 11],
  ["sentences", "It is so. ", 300_000],
] as const)(
  "a page of megabytes is compared while the process goes on: %s (T15, W3)",
  { timeout: 60_000 },
  async (given) => {
    const [, unit, length] = given;
    const stopping = new AbortController();
    setImmediate(() => stopping.abort(new Error("stopped")));
    await expect(compareClaims(comparisonOf(unit, length), stopping.signal)).rejects.toThrow("stopped");
  },
);
