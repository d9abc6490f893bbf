/** The summary of a round: the first prose of its report, short enough for a list. */

import { expect, test } from "vitest";
import { summarise } from "./deep.ts";

test("a summary skips headings, rules, tables and fences, and joins lines", () => {
  const report = "# Title\n\n---\n\n| a | b |\n|---|---|\n\n```\n\nFirst line\nsecond line.\n\n## Next\n\nThird.";
  expect(summarise(report)).toBe("First line second line. Third.");
});

test("a summary is the report itself if that has only headings", () => {
  expect(summarise(" # Only a title ")).toBe("# Only a title");
});

test("a summary ends at a word, with an ellipsis", () => {
  const summary = summarise("word ".repeat(100));
  expect(summary).toMatch(/^(?:word ){31}word…$/);
  expect(summarise("w".repeat(160))).toBe("w".repeat(160));
});

test("a summary of text without spaces is cut between characters", () => {
  expect(summarise("漢".repeat(400))).toBe(`${"漢".repeat(160)}…`);
  expect(summarise(`x${"😀".repeat(200)}`)).toBe(`x${"😀".repeat(79)}…`);
});
