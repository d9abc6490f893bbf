/** Recognises a report that contains its own text twice, as after a stream that was sent again. */

const MIN_CHARACTERS = 400;
const OPENING_CHARACTERS = 120;
/** The second copy may be cut, but not be a mere summary. */
const MIN_COPY = 0.4;
const MIN_COMMON = 0.9;

export function hasRepeatedBody(report: string): boolean {
  const text = report.replaceAll(/\s+/g, " ").trim();
  if (text.length < MIN_CHARACTERS) return false;
  const opening = text.slice(0, OPENING_CHARACTERS);
  const from = Math.floor(text.length * (1 - MIN_COPY) * 0.5);
  const at = text.indexOf(opening, Math.max(from, OPENING_CHARACTERS));
  if (at === -1) return false;
  const copy = text.slice(at);
  return copy.length >= text.length * MIN_COPY && commonStart(text, copy) >= copy.length * MIN_COMMON;
}

function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one[length] === other[length]) length += 1;
  return length;
}
