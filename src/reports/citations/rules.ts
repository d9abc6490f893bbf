/**
 * Adds citations to the Markdown parser. They are kept beside the text and never written into it, so a wrong position
 * cannot change how the text is parsed.
 */

import type { MarkdownIt, StateCore, StateInline, Token } from "markdown-it";
import { assignToBlocks, type InlineCitationMap } from "./blocks.ts";
import { type CitationPosition, MARK, numbersIn } from "./positions.ts";
import type { CitationNumbers } from "./citation-numbers.ts";

export interface CitationContext {
  /** In the whole text, ascending. */
  positions: readonly CitationPosition[];
  known: ReadonlySet<number>;
  meant: CitationNumbers;
  /** The number of the source with this URL. */
  numberOf: (url: string) => number | undefined;
}

/** Adds tokens of type `citation`, with the source number in `meta.n`. */
export function addCitations(md: MarkdownIt, { positions, known, meant, numberOf }: CitationContext): void {
  const inlines: InlineCitationMap = new Map();
  const citable = positions.filter(({ n }) => known.has(n));
  let afterCode = new Map<Token, number[]>();
  md.core.ruler.before("inline", "citation_positions", (state) => {
    if (citable.length > 0) afterCode = assignToBlocks(state.tokens, { text: state.src, positions: citable, inlines });
  });
  md.core.ruler.after("inline", "citations_left", (state) => emitRemainingCitations(state, inlines, afterCode));
  md.inline.ruler.at("text", (state, silent) => readText(state, silent, inlines));
  md.inline.ruler.before("text", "citation", (state, silent) => {
    // In silent mode the parser searches for the end of a link text; a mark found there would count as a link and end
    // the outer one.
    if (silent || state.linkLevel > 0) return false;
    emitDueCitations(state, inlines);
    return readMark(state, { known, meant, numberOf });
  });
}

function withSource(token: Token, n: number): Token {
  token.meta = { n };
  return token;
}

function cite(state: StateInline, n: number): void {
  // The space before a mark would allow a line break there.
  state.pending = state.pending.trimEnd();
  withSource(state.push("citation", "", 0), n);
}

/** Includes citations already passed, which point into one unit such as code or a link. */
function emitDueCitations(state: StateInline, inlines: InlineCitationMap): void {
  const inline = inlines.get(state.tokens);
  if (inline === undefined) return;
  for (let position = inline.positions[inline.next]; position !== undefined && position.at <= state.pos;) {
    cite(state, position.n);
    position = inline.positions[(inline.next += 1)];
  }
}

function emitRemainingCitations(state: StateCore, inlines: InlineCitationMap, afterCode: Map<Token, number[]>): void {
  const token = (type: string, tag = "", nesting: -1 | 0 | 1 = 0): Token =>
    Object.assign(new state.Token(type, tag, nesting), { block: tag !== "" });
  state.tokens = state.tokens.flatMap((block) => {
    const inline = block.children === null ? undefined : inlines.get(block.children);
    for (const { n } of inline?.positions.slice(inline.next) ?? [])
      block.children?.push(withSource(token("citation"), n));
    const numbers = afterCode.get(block) ?? [];
    if (numbers.length === 0) return [block];
    const text = token("inline");
    text.children = numbers.map((n) => withSource(token("citation"), n));
    return [block, token("paragraph_open", "p", 1), text, token("paragraph_close", "p", -1)];
  });
}

/** The same as markdown-it's own rule, but also stops at the next citation. */
const TEXT = /[^\n!#$%&*+\-:<=>@[\\\]^_`{}~]+/y;

function readText(state: StateInline, silent: boolean, inlines: InlineCitationMap): boolean {
  TEXT.lastIndex = state.pos;
  const length = TEXT.exec(state.src)?.[0].length ?? 0;
  const inline = silent || state.linkLevel > 0 ? undefined : inlines.get(state.tokens);
  const next = inline?.positions[inline.next]?.at ?? Infinity;
  const end = Math.min(state.posMax, state.pos + length, next > state.pos ? next : Infinity);
  if (end <= state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

const MARK_HERE = new RegExp(MARK, "iy");

type Sources = Pick<CitationContext, "known" | "meant" | "numberOf">;

/** An unresolved mark stays text, or the link that the report defines for it. */
function readMark(state: StateInline, { known, meant, numberOf }: Sources): boolean {
  if (state.src[state.pos] !== "[") return false;
  MARK_HERE.lastIndex = state.pos;
  const [mark, google, list = ""] = MARK_HERE.exec(state.src) ?? [];
  const end = state.pos + (mark?.length ?? 0);
  if (mark === undefined || end > state.posMax || state.src[end] === "(") return false;
  // `array[1]` is not a citation.
  if (google === undefined && /\w/.test(state.src[state.pos - 1] ?? "")) return false;
  const defined = google === undefined ? state.env.references?.[list] : undefined;
  const sourceOf = (n: number): number | undefined => {
    const source = google === undefined ? meant.plain.get(n) : meant.google.get(n);
    return source !== undefined && known.has(source) ? source : undefined;
  };
  const numbers = defined === undefined ? numbersIn(list) : [];
  const cited = defined === undefined ? numbers.map(sourceOf) : [numberOf(defined.href)];
  if (cited.every((source) => source === undefined)) return false;
  for (const [index, source] of cited.entries()) {
    if (source === undefined) state.pending += `[${numbers[index]}]`;
    else cite(state, source);
  }
  state.pos = end;
  return true;
}
