/** The size of typical answers in tokens, which the user of a model pays for. */

import { expect, test } from "vitest";
import { ANSWERS, measureAnswers, REDIRECT_LINKS_BUDGET, TOKEN_BUDGET } from "../kit/server/answer-tokens.ts";

test.for([
  ["addresses of pages", TOKEN_BUDGET],
  ["Google's redirect links", REDIRECT_LINKS_BUDGET],
] as const)("answers with %s stay within %o tokens (U4)", async ([sources, budget], context) => {
  const measured = await measureAnswers(context, ANSWERS[sources]);
  expect(measured).toHaveLength(2);
  for (const { tool, structured, text } of measured) {
    expect(Math.max(structured, text), tool).toBeLessThanOrEqual(budget[tool] ?? 0);
  }
});
