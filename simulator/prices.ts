/** What Google charges for an answer, at its list prices of November 2026: written down a second time, as a check. */

interface Tokens {
  input: number;
  cached: number;
  output: number;
  searches: number;
}

const SEARCH_USD = 0.014;

/** US dollars per million tokens: input, cached input and output. */
const PRICES: readonly [RegExp, readonly [number, number, number]][] = [
  [/^gemini-3\.8-flash/, [0.75, 0.075, 3.75]],
  [/^gemini-3\.1-pro|^deep-research/, [2, 0.2, 12]],
];

/** 0 for a model without a price here. */
export function chargeUsd(model: string, { input, cached, output, searches }: Tokens): number {
  const price = PRICES.find(([pattern]) => pattern.test(model))?.[1];
  if (price === undefined) return 0;
  const [perInput, perCached, perOutput] = price;
  const tokens = (input - cached) * perInput + cached * perCached + output * perOutput;
  return tokens / 1_000_000 + searches * SEARCH_USD;
}
