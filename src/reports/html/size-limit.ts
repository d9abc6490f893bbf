/** How much of a report is read as Markdown: nothing else is done meanwhile, so the rest is shown as it was written. */

/** The longest reports have half of it; a list with a link in each line takes a quarter of a second. */
const MOST_CHARACTERS = 200_000;
/** Lines, cells, links and citations: a table of single digits takes as long as ten times the prose. */
const MOST_MARKS = 30_000;

const LINE_END = 10;
const BRACKET = 91;
const BAR = 124;

/** Cut between lines where there are any. */
export function boundedText(whole: string): { text: string; rest: string } {
  let marks = 0;
  let lineEnd = 0;
  let at = 0;
  for (; at < whole.length && at < MOST_CHARACTERS && marks < MOST_MARKS; at += 1) {
    const code = whole.charCodeAt(at);
    if (code === LINE_END) lineEnd = at + 1;
    if (code === LINE_END || code === BRACKET || code === BAR) marks += 1;
  }
  if (at === whole.length) return { text: whole, rest: "" };
  const cut = lineEnd === 0 ? at : lineEnd;
  return { text: whole.slice(0, cut), rest: whole.slice(cut) };
}

/** Text and nothing else, so the allow-list has nothing to do here; for millions of entities it would take seconds. */
export function restHtml(rest: string, escape: (text: string) => string): string {
  if (rest.trim() === "") return "";
  const length = rest.length.toLocaleString("en-US");
  return `<p><em>This report is very long. Its last ${length} characters are shown as they were written.</em></p>\n<pre tabindex="0"><code>${escape(rest)}</code></pre>\n`;
}
