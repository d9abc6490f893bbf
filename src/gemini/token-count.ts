/** Validates token counts and model names reported by a backend. */

/** Far above any model call, and small enough for exact sums. */
const MAX_TOKENS_PER_COUNT = 1_000_000_000;

/** A missing count is 0; a negative, fractional, huge or non-numeric one is undefined. */
export function readTokenCount(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS_PER_COUNT;
  return isCount ? value : undefined;
}

const MODEL_NAME = /^[A-Za-z0-9][\w.:/@-]{0,127}$/;

/** The model name, or undefined for any other text. */
export const readModelName = (value: unknown): string | undefined =>
  typeof value === "string" && MODEL_NAME.test(value) ? value : undefined;
