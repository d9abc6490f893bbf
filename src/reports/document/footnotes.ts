/** Footnotes: `[^1]` in the text and `[^1]: note` on a line of its own. */

import type { MarkdownIt, StateBlock } from "markdown-it";
import { lineOf } from "./parser.ts";

const DEFINITION = /^\[\^([^\s\][^]{1,60})\]:[ \t]*/;
const REFERENCE = /\[\^([^\s\][^]{1,60})\]/y;
const MAX_FOOTNOTES = 1_000;

/** Labels with a definition anywhere in the report. */
export function definedFootnotes(report: string): ReadonlySet<string> {
  const defined = new Set<string>();
  if (report.includes("[^"))
    for (const [, label = ""] of report.matchAll(/^ {0,3}\[\^([^\s\][^]{1,60})\]:/gm))
      if (defined.size < MAX_FOOTNOTES) defined.add(label);
  return defined;
}

/** Adds tokens of the types `footnote` (inline), `footnote_open` and `footnote_close`, with the label in `meta`. */
export function addFootnoteRules(md: MarkdownIt, defined: ReadonlySet<string>): void {
  if (defined.size === 0) return;
  md.block.ruler.before("reference", "footnote", (state, ...[startLine, endLine, silent]) =>
    readDefinition({ state, startLine, endLine, silent }, defined),
  );
  md.inline.ruler.before("link", "footnote", (state, silent) => {
    REFERENCE.lastIndex = state.pos;
    const [mark, label = ""] = REFERENCE.exec(state.src) ?? [];
    if (mark === undefined || state.pos + mark.length > state.posMax || !defined.has(label)) return false;
    if (!silent && state.linkLevel === 0) state.push("footnote", "", 0).meta = { label };
    state.pos += mark.length;
    return true;
  });
}

interface BlockLines {
  state: StateBlock;
  startLine: number;
  endLine: number;
  silent: boolean;
}

/** One paragraph: up to an empty line or the next definition. */
function readDefinition({ state, startLine, endLine, silent }: BlockLines, defined: ReadonlySet<string>): boolean {
  const first = lineOf(state, startLine);
  const [mark, label = ""] = DEFINITION.exec(first) ?? [];
  if (mark === undefined || !defined.has(label) || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  if (silent) return true;
  const lines = [first.slice(mark.length)];
  let next = startLine + 1;
  for (; next < endLine && !state.isEmpty(next); next += 1) {
    const line = lineOf(state, next);
    if (DEFINITION.test(line) || (state.sCount[next] ?? 0) < state.blkIndent) break;
    lines.push(line);
  }
  state.push("footnote_open", "", 1).meta = { label };
  const inline = state.push("inline", "", 0);
  inline.content = lines.join("\n").trim();
  // An empty first line is not part of the content.
  inline.map = [lines[0]?.trim() === "" ? startLine + 1 : startLine, next];
  inline.children = [];
  state.push("footnote_close", "", -1);
  state.line = next;
  return true;
}
