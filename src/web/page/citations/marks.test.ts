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
  context: [],
  verdict: "confirmed",
  pairs: sources.map((source) => ({ source, ...FOUND })),
});

const claims = [
  claim(1, "The lake is 42 m deep.", 1, 2),
  claim(2, "The lake is 42 m deep in winter, and frozen.", 1),
  claim(3, "Ja.", 1),
];

test("the claim with the same words and the same source is found, a longer or a shorter one only if none is the same (W3)", () => {
  const at = (source: number, sentence: string | undefined) => pairFor({ claims }, source, { sentence })?.claim.n;
  expect(at(1, "The lake is *42 m* deep in winter, and frozen.")).toBe(2);
  expect(at(1, "The lake is 42 m deep")).toBe(1);
  expect(at(2, "Overall, the lake is 42 m deep in spring")).toBeUndefined();
  expect(at(2, "Depth: The lake is 42 m deep.")).toBe(1);
  expect(at(3, "The lake is 42 m deep.")).toBeUndefined();
  expect(at(1, "Ja, und nein")).toBeUndefined();
  expect(at(1, undefined)).toBeUndefined();
});

test("a label is part of the sentence on the page, and a row is found by its name and its values (W3)", () => {
  const labelled = [
    { ...claim(1, "5 EUR", 1), context: ["Price"] },
    { ...claim(2, "Price: 5,000 EUR | Noise: 38 dB", 1), context: ["Daikin"] },
    { ...claim(3, "Price: 5,000 EUR | Noise: 38 dB", 1), context: ["Bosch"] },
    { ...claim(4, "7,000 EUR", 1, 2), context: ["Nibe", "Price"] },
    { ...claim(5, "43 dB", 2), context: ["Nibe", "Noise"] },
  ];
  labelled[4]?.pairs.splice(0, 1, { ...FOUND, source: 2, verdict: "conflict" });
  const at = (source: number, place: Parameters<typeof pairFor>[2]) =>
    pairFor({ claims: labelled }, source, place)?.claim.n;
  expect(at(1, { sentence: "Price: 5 EUR" })).toBe(1);
  expect(at(1, { sentence: "5 EUR" })).toBe(1);
  const daikin = ["Daikin", "5,000 EUR", "38 dB", ""];
  expect(at(1, { sentence: undefined, row: { cells: daikin, at: 3 } })).toBe(2);
  expect(at(1, { sentence: "Daikin", row: { cells: daikin, at: 0 } })).toBe(2);
  expect(at(1, { sentence: "5,000 EUR", row: { cells: ["Bosch", ...daikin.slice(1)], at: 1 } })).toBe(3);
  expect(at(1, { sentence: "5,000 EUR", row: { cells: ["Vaillant", ...daikin.slice(1)], at: 1 } })).toBeUndefined();
  // A citation of the whole row has the verdict to be seen first; one in a cell that of the cell.
  const nibe = ["Nibe", "7,000 EUR", "43 dB", "report"];
  expect(at(2, { sentence: "report", row: { cells: nibe, at: 3 } })).toBe(5);
  expect(at(2, { sentence: "7,000 EUR", row: { cells: nibe, at: 1 } })).toBe(4);
});
