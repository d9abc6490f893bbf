/** Amounts of money as the program's texts have them. The page uses the format of its reader's language. */

/** In a sentence: `$5`, `$5.25`. */
export const dollars = (usd: number): string =>
  Number.isInteger(usd) ? `$${usd.toLocaleString("en-US")}` : formatDollars(usd);

/** As a figure: `$5.00`. Amounts below a cent, as searches cost, keep two significant digits. */
export function formatDollars(usd: number): string {
  if (usd === 0 || usd >= 0.01) return `$${usd.toFixed(2).replaceAll(THOUSANDS, ",")}`;
  return `$${usd.toPrecision(2)}`;
}

const THOUSANDS = /\B(?=(?:\d{3})+\.)/g;

/** Of a million tokens, exactly. */
export const formatPrice = (usd: number): string =>
  `$${Number.isInteger(usd) ? usd : usd.toFixed(Math.max(2, String(usd).split(".")[1]?.length ?? 0))}`;
