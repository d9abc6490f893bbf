/** The sources of a finished run, with and without annotations. */

import { expect, test } from "vitest";
import { FINISHED } from "../../../test/kit/store/runner.ts";
import { resultOf } from "./agent-result.ts";

const sourcesOf = (report: string, sources = FINISHED.sources) =>
  resultOf({ ...FINISHED, report, sources }, { partial: false }).sources.map(({ n, title, url }) => [n, title, url]);

test("without annotations the links in the report are its sources, each once, in order (K1)", () => {
  const report = [
    "# Report",
    "Lakes are deep ([A page](https://a.example/one)), says https://b.example/two?x=1.",
    "Again [1](https://a.example/one), and <https://c.example/three>; not ftp://d.example.",
    "| cell | https://e.example/four |",
  ].join("\n\n");
  expect(sourcesOf(report)).toEqual([
    [1, "A page", "https://a.example/one"],
    [2, expect.any(String), "https://b.example/two?x=1"],
    [3, expect.any(String), "https://c.example/three"],
    [4, expect.any(String), "https://e.example/four"],
  ]);
});

test("the numbers of the report's own list are kept, and other links follow them (K1)", () => {
  const report =
    "See [B](https://b.example).\n\n**Sources:**\n1. [a.example](https://a.example)\n3. [c.example](https://c.example)";
  expect(sourcesOf(report)).toEqual([
    [1, "a.example", "https://a.example"],
    [3, "c.example", "https://c.example"],
    [4, "B", "https://b.example"],
  ]);
});

test("with annotations links in the text add nothing (K1)", () => {
  const sources = [{ url: "https://a.example", title: "A" }];
  expect(sourcesOf("See https://b.example.", sources)).toEqual([[1, "A", "https://a.example"]]);
});

test("a report of nothing but links has a bounded number of sources (K1)", () => {
  const many = Array.from({ length: 20_000 }, (_, n) => `[x](https://a.example/${n})`).join("\n\n");
  expect(sourcesOf(many)).toHaveLength(1_000);
  expect(sourcesOf("[".repeat(100_000) + "https://".repeat(100_000)).length).toBeLessThanOrEqual(1_000);
});
