/**
 * Finds values of structured content that the text of a result does not contain: clients show a model only one of the
 * two.
 */

const leavesOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

/** Values inside printed JSON are escaped. */
function isContained(text: string, leaf: unknown): boolean {
  const plain = String(leaf).trim();
  return text.includes(plain) || text.includes(JSON.stringify(plain).slice(1, -1));
}

/** Returns the values missing from the text. `success` is excluded: whether a result is an error is not a value. */
export function missingFromText(text: string, { success: _success, ...values }: Record<string, unknown>): unknown[] {
  return leavesOf(values).filter((leaf) => !isContained(text, leaf));
}
