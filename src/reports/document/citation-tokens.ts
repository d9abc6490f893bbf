/**
 * Citations as tokens of the Markdown parser. Those that Google sends by position are kept beside the text and never
 * written into it, so a wrong position cannot change how the text is parsed.
 */

import type { MarkdownIt, StateCore, StateInline, Token } from "markdown-it";
import { type CitationNumbers, type CitationPosition, markAt, type PlacedCitations } from "../citations.ts";
import { createToken, originalRule } from "./parser.ts";
import { rangeOf, splitAt, trimEnd } from "./ranges.ts";

export interface CitationContext {
  known: ReadonlySet<number>;
  meant: CitationNumbers;
  /** The number of the source with this URL. */
  numberOf: (url: string) => number | undefined;
}

/** What a token of type `citation` (it has a source) or `mark` (it has none, and its text as content) cites. */
export interface Citation {
  /** As written in the text. */
  numbers: number[];
  /** For each number its source. */
  sources: (number | undefined)[];
  isGoogle: boolean;
  /** The report defines the number as a link, as in `[1]: url`. */
  isDefined: boolean;
}

const citations = new WeakMap<Token, Citation>();

export const citationOf = (token: Token | undefined): Citation | undefined => token && citations.get(token);

/** A citation of one source, which has no mark in the text. */
export function createCitation(n: number): Token {
  const token = createToken("citation");
  citations.set(token, { numbers: [n], sources: [n], isGoogle: true, isDefined: false });
  return token;
}

const originalReference = originalRule("reference");

/** Adds tokens of the types `citation`, `mark` and `cite_start`; `placed` are Google's citations in the parsed text. */
export function addCitations(md: MarkdownIt, context: CitationContext, placed: PlacedCitations): void {
  // In silent mode the parser searches for the end of a link text; a mark found there would count as a link and end
  // the outer one.
  const isPossible = (state: StateInline, silent: boolean): boolean =>
    !silent && state.linkLevel === 0 && state.src[state.pos] === "[";
  md.inline.ruler.before("text", "citation", (state, silent) => isPossible(state, silent) && readMark(state, context));
  md.inline.ruler.after("link", "mark", (state, silent) => isPossible(state, silent) && readMark(state, undefined));
  md.block.ruler.at("reference", (state, line, ...rest) => {
    const at = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    // `[cite: 24]: text` cites a source and defines no link.
    return !/^\[cite/i.test(state.src.slice(at, at + 5)) && originalReference(state, line, ...rest);
  });
  md.core.ruler.push("google_citations", (state) => {
    const unread = resolveMarks(state.tokens, placed.marks, context);
    const positions = [...placed.positions, ...unread].filter(({ n }) => context.known.has(n));
    if (positions.length > 0)
      insertPositions(
        state,
        positions.toSorted((a, b) => a.at - b.at),
      );
  });
}

/** Returns the citations of the marks that are no tokens, because they are in code or in a link. */
function resolveMarks(
  tokens: readonly Token[],
  placed: PlacedCitations["marks"],
  { known }: CitationContext,
): CitationPosition[] {
  const waiting = new Map(placed.map((mark) => [mark.start, mark]));
  for (const block of tokens) {
    const { children } = block;
    if (children === null) continue;
    for (const [at, token] of children.entries()) {
      const citation = citations.get(token);
      if (citation === undefined) continue;
      const { start } = rangeOf(token);
      const numbers = waiting.get(start)?.sources.filter((n) => known.has(n)) ?? [];
      waiting.delete(start);
      if (numbers.length > 0) citations.set(token, { ...citation, numbers, sources: numbers });
      else if (citation.sources.every((source) => source === undefined)) continue;
      token.type = "citation";
      token.content = "";
      const before = children[at - 1];
      // The space before a citation would allow a line break there.
      if (before?.type === "text") trimEnd(before);
    }
    block.children = children.filter(({ type, content }) => type !== "text" || content !== "");
  }
  return [...waiting.values()].flatMap(({ end, sources }) => sources.map((n) => ({ at: end, n })));
}

const START_MARK = "[cite_start]";
/** Without a context any mark is read, otherwise one of Google or with a source. */
function readMark(state: StateInline, context: CitationContext | undefined): boolean {
  const { src, pos, posMax } = state;
  if (src.slice(pos, Math.min(posMax, pos + START_MARK.length)).toLowerCase() === START_MARK) {
    state.push("cite_start", "", 0);
    state.pos += START_MARK.length;
    return true;
  }
  const mark = markAt(src, pos);
  if (mark === undefined || mark.end > posMax) return false;
  const { end, numbers, isGoogleMark: isGoogle } = mark;
  const defined = isGoogle ? undefined : state.env.references?.[src.slice(pos + 1, end - 1)];
  const sources = context === undefined ? [] : sourcesOf(numbers, { context, defined, isGoogle });
  if (context !== undefined && !isGoogle && sources.every((source) => source === undefined)) return false;
  const token = state.push("mark", "", 0);
  token.content = src.slice(pos, end);
  citations.set(token, { numbers, sources, isGoogle, isDefined: defined !== undefined });
  state.pos = end;
  return true;
}

interface Meaning {
  context: CitationContext;
  defined: { href: string } | undefined;
  isGoogle: boolean;
}

function sourcesOf(numbers: readonly number[], { context, defined, isGoogle }: Meaning): (number | undefined)[] {
  const { known, meant, numberOf } = context;
  if (defined !== undefined) return [numberOf(defined.href)];
  return numbers.map((n) => {
    const source = (isGoogle ? meant.google : meant.plain).get(n);
    return source !== undefined && known.has(source) ? source : undefined;
  });
}

/** Inserts citations by position: into texts, and after code, a link or anything else that is one unit. */
function insertPositions(state: StateCore, positions: readonly CitationPosition[]): void {
  const waiting = positions.map(({ at, n }) => ({ at: atWordEnd(state.src, at), n })).toReversed();
  const take = (before: number): CitationPosition[] => {
    const due: CitationPosition[] = [];
    while ((waiting.at(-1)?.at ?? Infinity) < before) due.push(...waiting.splice(-1));
    return due;
  };
  let last: Token | undefined;
  const append = (due: readonly CitationPosition[]): void => {
    last?.children?.push(...due.map(({ n }) => createCitation(n)));
  };
  const lineStarts = startsOf(state.src);
  state.tokens = state.tokens.flatMap((block) => {
    const isCode = block.type === "fence" || block.type === "code_block";
    if (isCode) {
      append(take(lineStarts[block.map?.[0] ?? 0] ?? 0));
      const due = take(lineStarts[block.map?.[1] ?? 0] ?? Infinity);
      return due.length === 0 ? [block] : [block, ...paragraphOf(due.map(({ n }) => createCitation(n)))];
    }
    if (block.type !== "inline" || block.children === null) return [block];
    const { start, end } = rangeOf(block);
    const early = take(start);
    if (last !== undefined) append(early);
    const due = [...(last === undefined ? early : []), ...take(end + 1)];
    last = block;
    if (due.length > 0) block.children = inserted(block.children, due);
    return [block];
  });
  append(take(Infinity));
}

function paragraphOf(children: Token[]): Token[] {
  const tokens = [
    createToken("paragraph_open", "p", 1),
    createToken("inline"),
    createToken("paragraph_close", "p", -1),
  ];
  for (const token of tokens) Object.assign(token, token.type === "inline" ? { children } : { block: true });
  return tokens;
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function inserted(tokens: readonly Token[], due: readonly CitationPosition[]): Token[] {
  const result: Token[] = [];
  const waiting = due.toReversed();
  let links = 0;
  const insertBefore = (given: Token): Token => {
    let token = given;
    for (let next = waiting.at(-1); next !== undefined && next.at < rangeOf(token).end; next = waiting.at(-1)) {
      if (next.at > rangeOf(token).start) {
        if (token.type !== "text") break;
        const [head, tail] = splitAt(token, next.at);
        if (head.content !== "") result.push(head);
        token = tail;
      }
      result.push(createCitation(next.n));
      waiting.pop();
    }
    return token;
  };
  for (const token of tokens) {
    const rest = links === 0 ? insertBefore(token) : token;
    if (token.type === "link_open") links += 1;
    if (token.type === "link_close") links -= 1;
    if (rest.type !== "text" || rest.content !== "") result.push(rest);
  }
  return [...result, ...waiting.toReversed().map(({ n }) => createCitation(n))];
}

const LETTER = /[\dA-Za-z\u00C0-\u024F]/;

/** Limit for moving a citation past letters or spaces. */
const MAX_WORD_SCAN = 50;

/** Moves a citation back before spaces and forward to the end of a word. */
function atWordEnd(text: string, position: number): number {
  let at = Math.min(position, text.length);
  const first = at - MAX_WORD_SCAN;
  while (at > first && text[at - 1] === " ") at -= 1;
  const last = at + MAX_WORD_SCAN;
  while (at > 0 && at < last && LETTER.test(text[at - 1] ?? "") && LETTER.test(text[at] ?? "")) at += 1;
  return at;
}
