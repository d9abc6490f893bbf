import { expect, test } from "vitest";
import { cleanText } from "../../src/platform/clean-text.ts";
import { ACTS, HIDDEN_TEXTS } from "./hidden-texts.ts";

test("the corpus has at least sixty different hidden texts (T17)", () => {
  expect(new Set(HIDDEN_TEXTS).size).toBeGreaterThanOrEqual(60);
  for (const text of HIDDEN_TEXTS) expect(text, JSON.stringify(text)).toMatch(ACTS);
});

test("cleaning removes each hidden text, alone, inside another and repeated (T17)", () => {
  for (const outer of HIDDEN_TEXTS) {
    for (const inner of HIDDEN_TEXTS) {
      const half = Math.floor(outer.length / 2);
      const text = outer.slice(0, half) + inner + outer.slice(half);
      const clean = cleanText(text);
      expect(clean, JSON.stringify(text)).not.toMatch(ACTS);
      expect(cleanText(clean)).toBe(clean);
    }
  }
});
