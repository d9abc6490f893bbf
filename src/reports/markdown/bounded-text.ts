/** Limits how much Markdown is parsed at once, because parsing blocks the event loop. */

/** Twice the length of the longest reports. A list with a link in each line takes a quarter of a second. */
const MAX_CHARACTERS = 200_000;
/** Lines, cells, links and citations: a table of single digits takes ten times as long as prose. */
const MAX_MARKS = 30_000;

const LINE_END = 10;
const BRACKET = 91;
const BAR = 124;

/** Cuts between lines if possible. */
export function boundedText(whole: string): { text: string; rest: string } {
  let marks = 0;
  let lineEnd = 0;
  let at = 0;
  for (; at < whole.length && at < MAX_CHARACTERS && marks < MAX_MARKS; at += 1) {
    const code = whole.charCodeAt(at);
    if (code === LINE_END) lineEnd = at + 1;
    if (code === LINE_END || code === BRACKET || code === BAR) marks += 1;
  }
  if (at === whole.length) return { text: whole, rest: "" };
  const cut = lineEnd === 0 ? at : lineEnd;
  return { text: whole.slice(0, cut), rest: whole.slice(cut) };
}
