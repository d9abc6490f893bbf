/** The price of the judge on a button. */

import { expect, test } from "vitest";
import { judgeCost } from "./panel.tsx";

test("a maximum is rounded up, and an unknown price is named as such (W3)", () => {
  const judge = { model: "gemini-3.8-flash", pairs: 3, question: undefined };
  expect(judgeCost({ ...judge, likely_usd: 0.006, max_usd: 0.1419 })).toMatch(/at most \$0\.15 for gemini-3\.8-flash/);
  expect(judgeCost({ ...judge, likely_usd: undefined, max_usd: undefined })).toContain("price unknown");
  expect(judgeCost({ ...judge, pairs: 0, likely_usd: 1, max_usd: 1 })).toBe("");
});
