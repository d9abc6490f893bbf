/** The time to split and compare hostile text grows with its size, not with the square of it. */

import { expect, test } from "vitest";
import { comparePage } from "./compare-page.ts";
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

const SIZE = 150_000;

function processorTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function readAll(report: string): void {
  const citations = Array.from({ length: 500 }, (_unused, index) => ({ n: 1, start_byte: 0, end_byte: index * 997 }));
  const supports = Array.from({ length: 200 }, () => ({ text: report.slice(0, 5_000), urls: ["https://a.example/x"] }));
  splitClaims({ report, sources: SOURCES, citations, supports });
  comparePage({ text: report.slice(0, 2_000), context: [], headings: [] }, { title: "", blocks: [report] });
}

test.for(Object.entries(HOSTILE))("%s (T15, W1)", { timeout: 60_000 }, ([, unit]) => {
  const text = (size: number): string => unit.repeat(Math.ceil(size / unit.length));
  readAll(text(SIZE));
  const measure = (size: number): number =>
    Math.min(
      processorTime(() => readAll(text(size))),
      processorTime(() => readAll(text(size))),
    );
  // Quadratic time would be four times as long; the constant absorbs what is too short to measure.
  expect(measure(2 * SIZE)).toBeLessThan(3 * measure(SIZE) + 50_000);
});
