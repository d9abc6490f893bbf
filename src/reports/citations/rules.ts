/**
 * Teaches the Markdown reader citations. They are read beside the text and never written into it, so that whatever a
 * place points at, the text is read exactly as it would be without them.
 */

import type { MarkdownIt, StateCore, StateInline, Token } from "markdown-it";
import { distribute, type PieceMap } from "./blocks.ts";
import { type CitationPlace, MARK, numbersIn } from "./positions.ts";
import type { MeantNumbers } from "./meant-numbers.ts";

export interface CitationContext {
  /** Of the whole text, in order. */
  places: readonly CitationPlace[];
  known: ReadonlySet<number>;
  meant: MeantNumbers;
  /** The number of the source with this address. */
  numberOf: (address: string) => number | undefined;
}

/** A token of the type `citation` carries the number of its source. */
export function addCitations(md: MarkdownIt, { places, known, meant, numberOf }: CitationContext): void {
  const pieces: PieceMap = new Map();
  const citable = places.filter(({ n }) => known.has(n));
  let afterCode = new Map<Token, number[]>();
  md.core.ruler.before("inline", "citation_places", (state) => {
    if (citable.length > 0) afterCode = distribute(state.tokens, { text: state.src, places: citable, pieces });
  });
  md.core.ruler.after("inline", "citations_left", (state) => setLeft(state, pieces, afterCode));
  md.inline.ruler.at("text", (state, silent) => readText(state, silent, pieces));
  md.inline.ruler.before("text", "citation", (state, silent) => {
    // Looked over in search of the end of a link's text, a mark would count as a link and be the end of the other.
    if (silent || state.linkLevel > 0) return false;
    setDue(state, pieces);
    return readMark(state, { known, meant, numberOf });
  });
}

function citing(token: Token, n: number): Token {
  token.meta = { n };
  return token;
}

function cite(state: StateInline, n: number): void {
  // The blank before a mark would let it fall to the next line.
  state.pending = state.pending.trimEnd();
  citing(state.push("citation", "", 0), n);
}

/** Also those that were passed: what they pointed into is one piece, such as code or a link. */
function setDue(state: StateInline, pieces: PieceMap): void {
  const piece = pieces.get(state.tokens);
  if (piece === undefined) return;
  for (let place = piece.places[piece.next]; place !== undefined && place.at <= state.pos;) {
    cite(state, place.n);
    place = piece.places[(piece.next += 1)];
  }
}

function setLeft(state: StateCore, pieces: PieceMap, afterCode: Map<Token, number[]>): void {
  const token = (type: string, tag = "", nesting: -1 | 0 | 1 = 0): Token =>
    Object.assign(new state.Token(type, tag, nesting), { block: tag !== "" });
  state.tokens = state.tokens.flatMap((block) => {
    const piece = block.children === null ? undefined : pieces.get(block.children);
    for (const { n } of piece?.places.slice(piece.next) ?? []) block.children?.push(citing(token("citation"), n));
    const numbers = afterCode.get(block) ?? [];
    if (numbers.length === 0) return [block];
    const text = token("inline");
    text.children = numbers.map((n) => citing(token("citation"), n));
    return [block, token("paragraph_open", "p", 1), text, token("paragraph_close", "p", -1)];
  });
}

/** As markdown-it's own, which stops where something other than text may begin, and at the next citation besides. */
const TEXT = /[^\n!#$%&*+\-:<=>@[\\\]^_`{}~]+/y;

function readText(state: StateInline, silent: boolean, pieces: PieceMap): boolean {
  TEXT.lastIndex = state.pos;
  const length = TEXT.exec(state.src)?.[0].length ?? 0;
  const piece = silent || state.linkLevel > 0 ? undefined : pieces.get(state.tokens);
  const next = piece?.places[piece.next]?.at ?? Infinity;
  const end = Math.min(state.posMax, state.pos + length, next > state.pos ? next : Infinity);
  if (end <= state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

const MARK_HERE = new RegExp(MARK, "iy");

type Sources = Pick<CitationContext, "known" | "meant" | "numberOf">;

/** A mark that nothing explains is left to be text, or the link that the report has defined it as. */
function readMark(state: StateInline, { known, meant, numberOf }: Sources): boolean {
  if (state.src[state.pos] !== "[") return false;
  MARK_HERE.lastIndex = state.pos;
  const [mark, googles, list = ""] = MARK_HERE.exec(state.src) ?? [];
  const end = state.pos + (mark?.length ?? 0);
  if (mark === undefined || end > state.posMax || state.src[end] === "(") return false;
  // `array[1]` is no citation.
  if (googles === undefined && /\w/.test(state.src[state.pos - 1] ?? "")) return false;
  const defined = googles === undefined ? state.env.references?.[list] : undefined;
  const sourceOf = (n: number): number | undefined => {
    const source = googles === undefined ? meant.plain.get(n) : meant.googles.get(n);
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
