/** Whether a text tells everything that an answer holds as data: clients show a model only one of the two. */

const leavesOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

/** A value inside printed JSON is escaped. */
function isTold(text: string, leaf: unknown): boolean {
  const plain = String(leaf).trim();
  return text.includes(plain) || text.includes(JSON.stringify(plain).slice(1, -1));
}

/** What the text leaves out; `success` itself is told by there being an answer or an error. */
export function untold(text: string, { success: _success, ...told }: Record<string, unknown>): unknown[] {
  return leavesOf(told).filter((leaf) => !isTold(text, leaf));
}
