/** The maximum price of a judgement holds for every claim and page. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { bestPassages, indexPage } from "../../claims/page-index.ts";
import { costCalculator } from "../../costs/actual.ts";
import { LIST_PRICES } from "../../costs/prices.ts";
import { MAX_PASSAGES, type OpenClaim } from "./judge-port.ts";
import { judgeClaim, judgePrice, maxInputTokens, maxOutputTokens } from "./judge.ts";

const promptFor = ({ claim, passages }: { claim: string; passages: string }): string =>
  `Is ${claim} said in ${passages}? Again: ${claim}`;

const claimOf = (text: string, headings: string[]): OpenClaim => ({
  n: 1,
  text,
  headings,
  context: [],
  start: 0,
  end: text.length,
  sources: [1],
  googleSources: [],
  passages: [],
});

test("no prompt has more bytes, and so no more tokens, than its price was computed for (W3)", async () => {
  const max = maxInputTokens(promptFor);
  const text = fc.string({ unit: "binary", maxLength: 3_000 });
  const long = fc.tuple(text, fc.integer({ min: 1, max: 6 })).map(([part, times]) => part.repeat(times));
  await fc.assert(
    fc.asyncProperty(text, fc.array(text, { maxLength: 2 }), fc.array(long, { maxLength: 12 }), async (...given) => {
      const [claim, headings, blocks] = given;
      const ask = async (values: { claim: string; passages: string }): Promise<string> => {
        expect(Buffer.byteLength(promptFor(values))).toBeLessThanOrEqual(max);
        return "";
      };
      const page = { title: "\u{20AC}".repeat(10), blocks };
      const asked = claimOf(claim, headings);
      await judgeClaim(ask, { ...asked, passages: bestPassages(asked, indexPage(page), MAX_PASSAGES) }, page);
    }),
    { numRuns: 25 },
  );
  // The longest page that is sent as a whole, and the longest sentence.
  const asked: number[] = [];
  const count = async (values: { claim: string; passages: string }): Promise<string> => {
    asked.push(Buffer.byteLength(promptFor(values)));
    return "";
  };
  await judgeClaim(count, claimOf("\u{20AC}".repeat(2_000), []), { title: "", blocks: ["\u{20AC}".repeat(4_999)] });
  await judgeClaim(count, claimOf("x".repeat(2_001), []), { title: "t", blocks: ["text"] });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toBeGreaterThan(max - 200);
  expect(asked[0]).toBeLessThanOrEqual(max);
});

test("the maximum is the price of the longest prompt and answer, at the higher price of a day (W3)", () => {
  const priced = { costOf: costCalculator(LIST_PRICES), model: "gemini-3.8-flash", promptFor };
  const price = judgePrice(10, priced, Date.UTC(2026, 10, 17));
  const input = maxInputTokens(promptFor);
  expect(price?.maxUsd).toBeCloseTo((10 * (input * 0.75 + 8_192 * 3.75)) / 1e6, 9);
  expect(price?.likelyUsd).toBeLessThan(0.03);
  // The price doubles at midnight.
  const evening = judgePrice(10, priced, Date.UTC(2026, 11, 31, 23, 59));
  expect(evening?.maxUsd).toBeCloseTo(2 * (price?.maxUsd ?? 0), 9);
  // A model that is priced by its family has no maximum.
  for (const model of ["someone-elses-model", "gemini-9.9-flash"]) {
    expect(judgePrice(1, { ...priced, model }, Date.UTC(2026, 10, 17))).toBeUndefined();
  }
  expect(maxOutputTokens(priced.model)).toBe(8_192);
  for (const model of ["gemini-4-argon", "gemini-4-carbon"]) expect(maxOutputTokens(model)).toBe(65_536);
});
