/** A citation in the text is shown with the verdict about its own sentence. */

import { expect, test } from "vitest";
import type { CitedPairView, ClaimView } from "../../wire.ts";
import { pairFor } from "./marks.ts";

const FOUND: Omit<CitedPairView, "source"> = {
  verdict: "confirmed",
  kind: "page",
  reason: undefined,
  passage: undefined,
  page_says: undefined,
  probability: undefined,
  judged: undefined,
  by_google: undefined,
  checked_at: undefined,
};

const claim = (n: number, text: string, ...sources: number[]): ClaimView => ({
  n,
  text,
  verdict: "confirmed",
  pairs: sources.map((source) => ({ source, ...FOUND })),
});

const claims = [
  claim(1, "The lake is 42 m deep.", 1, 2),
  claim(2, "The lake is 42 m deep in winter, and frozen.", 1),
  claim(3, "Ja.", 1),
];

test("the claim with the same words and the same source is found, a longer or a shorter one only if none is the same (W3)", () => {
  const at = (source: number, sentence: string | undefined) => pairFor({ claims }, source, sentence)?.claim.n;
  expect(at(1, "The lake is *42 m* deep in winter, and frozen.")).toBe(2);
  expect(at(1, "The lake is 42 m deep")).toBe(1);
  expect(at(2, "Overall, the lake is 42 m deep in spring")).toBeUndefined();
  expect(at(2, "Depth: The lake is 42 m deep.")).toBe(1);
  expect(at(3, "The lake is 42 m deep.")).toBeUndefined();
  expect(at(1, "Ja, und nein")).toBeUndefined();
  expect(at(1, undefined)).toBeUndefined();
});
