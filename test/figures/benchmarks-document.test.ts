/** The document that the benches write. */

import { expect, test } from "vitest";
import { documentOf } from "../../bench/document.ts";
import { hasPassed } from "../../bench/report.ts";

test("the document compares each figure with its limit, marks a busy machine and names what is missing (Y5)", () => {
  const text = documentOf(
    [
      {
        name: "tokens",
        date: "2026-11-16",
        commit: "abc",
        machine: "Node 24",
        load: 1.4,
        table: {
          title: "Tokens",
          columns: ["answer", "tokens"],
          rows: [["search", "360"]],
          notes: ["By o200k."],
          figures: [{ what: "tokens of `search`", value: 360, limit: 450 }],
          passed: true,
        },
      },
    ],
    ["tokens", "page"],
  );
  expect(text).toContain("| tokens of `search` | 360 | 450 | **0.80** | met | `tokens` |");
  expect(text).toContain("## Tokens\n");
  expect(text).toContain("2026-11-16, commit abc, Node 24, load 1.4 per core (**busy machine**)");
  expect(text).toContain("No result is stored of `page`.");
});

test("a bench fails with each figure above its limit (Y5)", () => {
  const table = { title: "Start", columns: [], rows: [], notes: [], passed: true };
  const passedWith = (...values: number[]): boolean =>
    hasPassed({ ...table, figures: values.map((value) => ({ what: "÷ bare", value, limit: 1.1 })) });
  expect([passedWith(), passedWith(1.1, 1), passedWith(1, 1.11), passedWith(Number.NaN)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(hasPassed({ ...table, passed: false })).toBe(false);
});
