/** What Google charges, as of a date. One table; the model used when none is configured stands beside it. */

/** The API backend's model when GEMINI_MODEL is not set. */
export const DEFAULT_API_MODEL = "gemini-3.8-flash";

export interface Price {
  /** US dollars per million tokens. */
  input: number;
  output: number;
  /** Above this prompt size the `long` prices hold. */
  longAbove?: number;
  longInput?: number;
  longOutput?: number;
}

interface DatedPrice extends Price {
  model: RegExp;
  /** First day this price no longer holds. */
  until?: string;
}

const PRICES: readonly DatedPrice[] = [
  { model: /^gemini-3\.1-pro/, input: 2, output: 12, longAbove: 200_000, longInput: 4, longOutput: 18 },
  { model: /^gemini-3\.[78]-flash(?!-lite)/, input: 0.75, output: 3.75, until: "2027-01-01" },
  { model: /^gemini-3\.[78]-flash(?!-lite)/, input: 1.5, output: 7.5 },
  { model: /^gemini-3\.[56]-flash(?!-lite)/, input: 1.5, output: 9 },
];

/** Per grounded search query, without the monthly free allowance, which only Google can count. */
export const SEARCH_QUERY_USD = 0.014;

export function priceOf(model: string, now: number): Price | undefined {
  const today = new Date(now).toISOString().slice(0, 10);
  const name = model.replace(/^models\//, "");
  return PRICES.find((price) => price.model.test(name) && (price.until === undefined || today < price.until));
}
