/** Typical answers stay small enough to be asked for often: what a model reads is what its user pays for. */

import { expect, test } from "vitest";
import { ANSWERS, measureAnswers, TOKEN_BUDGET } from "../support/answer-tokens.ts";

test("a search answer takes at most 450 tokens, a deep_search of three rounds at most 2,500 (U4)", async (context) => {
  const measured = await measureAnswers(context, ANSWERS["addresses of pages"]);
  expect(measured).toHaveLength(2);
  for (const { tool, structured, text } of measured) {
    expect(Math.max(structured, text), tool).toBeLessThanOrEqual(TOKEN_BUDGET[tool] ?? 0);
  }
});
