/** Footnotes: `[^1]` in the text and `[^1]: note` on a line of its own; collected at the end of the report. */

import type { MarkdownIt, StateBlock, StateCore, Token } from "markdown-it";

const DEFINITION = /^\[\^([^\s\][^]{1,60})\]:[ \t]*/;
const REFERENCE = /\[\^([^\s\][^]{1,60})\]/y;
const MAX_FOOTNOTES = 1_000;

interface Note {
  number: number;
  /** How often the text refers to it. */
  references: number;
  html: string;
}

/** Shared by the parts of a report, which may define a note after the part that refers to it. */
export interface Footnotes {
  /** Labels with a definition anywhere in the report. */
  defined: ReadonlySet<string>;
  /** By label, in the order of their numbers. */
  notes: Map<string, Note>;
}

export function createFootnotes(report: string): Footnotes {
  const defined = new Set<string>();
  if (report.includes("[^"))
    for (const [, label = ""] of report.matchAll(/^ {0,3}\[\^([^\s\][^]{1,60})\]:/gm))
      if (defined.size < MAX_FOOTNOTES) defined.add(label);
  return { defined, notes: new Map() };
}

function noteOf({ notes }: Footnotes, label: string): Note {
  const note = notes.get(label) ?? { number: notes.size + 1, references: 0, html: "" };
  notes.set(label, note);
  return note;
}

export function addFootnotes(md: MarkdownIt, footnotes: Footnotes): void {
  if (footnotes.defined.size === 0) return;
  md.block.ruler.before("reference", "footnote", (state, ...[startLine, endLine, silent]) =>
    readDefinition({ state, startLine, endLine, silent }, footnotes),
  );
  md.inline.ruler.before("link", "footnote", (state, silent) => {
    REFERENCE.lastIndex = state.pos;
    const [mark, label = ""] = REFERENCE.exec(state.src) ?? [];
    if (mark === undefined || state.pos + mark.length > state.posMax || !footnotes.defined.has(label)) return false;
    if (!silent && state.linkLevel === 0) state.push("footnote", "", 0).meta = { label };
    state.pos += mark.length;
    return true;
  });
  md.core.ruler.push("footnotes", (state) => takeNotes(state, md, footnotes));
  md.renderer.rules["footnote"] = (tokens, at) => {
    const note = noteOf(footnotes, String(tokens[at]?.meta?.["label"]));
    note.references += 1;
    const { number, references } = note;
    return `<sup class="note"><a id="fnref-${number}-${references}" href="#fn-${number}" aria-label="Footnote ${number}">${number}</a></sup>`;
  };
}

interface BlockLines {
  state: StateBlock;
  startLine: number;
  endLine: number;
  silent: boolean;
}

/** One paragraph: up to an empty line or the next definition. */
function readDefinition({ state, startLine, endLine, silent }: BlockLines, { defined }: Footnotes): boolean {
  const lineAt = (line: number): string =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);
  const first = lineAt(startLine);
  const [mark, label = ""] = DEFINITION.exec(first) ?? [];
  if (mark === undefined || !defined.has(label) || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  if (silent) return true;
  const lines = [first.slice(mark.length)];
  let next = startLine + 1;
  for (; next < endLine && !state.isEmpty(next); next += 1) {
    const line = lineAt(next);
    if (DEFINITION.test(line) || (state.sCount[next] ?? 0) < state.blkIndent) break;
    lines.push(line);
  }
  state.push("footnote_open", "", 1).meta = { label };
  const inline = state.push("inline", "", 0);
  inline.content = lines.join("\n").trim();
  inline.map = [startLine, next];
  inline.children = [];
  state.push("footnote_close", "", -1);
  state.line = next;
  return true;
}

/** Renders the definitions and removes them from the text. The first definition of a label counts. */
function takeNotes(state: StateCore, md: MarkdownIt, footnotes: Footnotes): void {
  const kept: Token[] = [];
  const taken: { label: string; inline: Token | undefined }[] = [];
  for (let at = 0; at < state.tokens.length; at += 1) {
    const token = state.tokens[at];
    if (token?.type === "footnote_open") {
      const label = String(token.meta?.["label"]);
      taken.push({ label, inline: state.tokens[at + 1] });
      at += 1;
      // A citation without a position of its own may stand before the end.
      while (state.tokens[at + 1]?.type !== "footnote_close" && at + 1 < state.tokens.length) {
        at += 1;
        kept.push(...state.tokens.slice(at, at + 1));
      }
      at += 1;
    } else if (token !== undefined) kept.push(token);
  }
  state.tokens = kept;
  // The numbers follow the references, so references are counted before the notes are rendered.
  for (const token of kept)
    for (const child of token.children ?? [])
      if (child.type === "footnote") noteOf(footnotes, String(child.meta?.["label"]));
  for (const { label, inline } of taken) {
    const note = noteOf(footnotes, label);
    if (note.html === "" && inline !== undefined) note.html = md.renderer.render([inline], md.options, state.env);
  }
}

/** HTML that is not sanitized yet. */
export function footnotesHtml({ notes }: Footnotes): string {
  if (notes.size === 0) return "";
  const items = [...notes.values()].map(({ number, references, html }) => {
    const back = Array.from(
      { length: Math.min(references, 20) },
      (_, index) => `<a href="#fnref-${number}-${index + 1}" aria-label="Back to reference ${index + 1}">↩</a>`,
    );
    return `<li id="fn-${number}">${html} ${back.join(" ")}</li>\n`;
  });
  return `<section class="footnotes" aria-label="Footnotes">\n<ol>\n${items.join("")}</ol>\n</section>\n`;
}
