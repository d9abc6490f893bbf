/** Token counts as a backend reports them, checked before anything is added up or priced. */

/** No model call comes near it; sums of many such counts stay exact. */
const MAX_TOKENS_PER_COUNT = 1_000_000_000;

/** A count that is absent is 0; one that is negative, fractional, huge or no number is undefined. */
export function readTokenCount(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS_PER_COUNT;
  return isCount ? value : undefined;
}

const MODEL_NAME = /^[A-Za-z0-9][\w.:/@-]{0,127}$/;

/** A model's name as a backend reports it, unless it is other text. */
export const readModelName = (value: unknown): string | undefined =>
  typeof value === "string" && MODEL_NAME.test(value) ? value : undefined;
