/**
 * Extracts the part of a title, question or report that matches a search. The full-text index could do this, but takes minutes
 * for a report that repeats one word often.
 */

import { type FoundPiece, foldedText, type SearchWord } from "./search-terms.ts";

/** A search word as index tokens: several if it is a phrase or contains punctuation. */
export interface SearchTokens {
  tokens: string[];
  begins: boolean;
}

/** The number of characters that may still be scanned, shared by all excerpts of a result page. */
export interface ExcerptAllowance {
  characters: number;
}

interface FoundToken {
  start: number;
  end: number;
  folded: string;
}

const TOKEN = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

const SLICE_CHARACTERS = 4_000;
/** A word or phrase that crosses the end of a slice is found in the next one. */
const OVERLAP_CHARACTERS = 200;

const MAX_WORDS = 24;
const WORDS_BEFORE = 6;
const CHARACTERS_BEFORE = 200;
const CHARACTERS_AFTER = 400;

export const soughtIn = (words: readonly SearchWord[]): SearchTokens[] =>
  words
    .map(({ text, begins }) => ({ tokens: tokensIn(text).map(({ folded }) => folded), begins }))
    .filter(({ tokens }) => tokens.length > 0);

/**
 * Taken from the title or the question if one of them has all words, else from the first match in the report of a word
 * that neither has, else from its start.
 */
export function excerptOf(
  { title = "", question, report }: { title?: string; question: string; report: string },
  sought: readonly SearchTokens[],
  allowance: ExcerptAllowance,
): FoundPiece[] {
  const isMissingIn = (tokens: readonly FoundToken[]) => (word: SearchTokens) => hitsIn(tokens, [word]).length === 0;
  const named = tokensIn(title);
  if (title !== "" && !sought.some(isMissingIn(named))) return piecesAround(title, 0, sought);
  const asked = wholeTokens(question, 0, SLICE_CHARACTERS);
  const others = sought.filter(isMissingIn(named)).filter(isMissingIn(asked));
  const inReport = others.length === 0 ? undefined : firstHit(report, others, allowance);
  const [inQuestion] = hitsIn(asked, sought);
  if (inReport !== undefined || inQuestion === undefined) return piecesAround(report, inReport ?? 0, sought);
  return piecesAround(question, asked[inQuestion.from]?.start ?? 0, sought);
}

function firstHit(text: string, sought: readonly SearchTokens[], allowance: ExcerptAllowance): number | undefined {
  for (let from = 0; from < text.length && allowance.characters > 0; from += SLICE_CHARACTERS) {
    allowance.characters -= SLICE_CHARACTERS;
    const start = Math.max(0, from - OVERLAP_CHARACTERS);
    const slice = text.slice(start, from + SLICE_CHARACTERS);
    // A substring check is faster than tokenizing, and most slices have no match.
    const letters = foldedText(slice);
    if (!sought.some(({ tokens: [first = ""] }) => letters.includes(first))) continue;
    const tokens = wholeTokens(text, start, from + SLICE_CHARACTERS);
    const [hit] = hitsIn(tokens, sought);
    if (hit !== undefined) return tokens[hit.from]?.start;
  }
  return undefined;
}

function tokensIn(text: string, offset = 0): FoundToken[] {
  return [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({
    start: offset + index,
    end: offset + index + word.length,
    folded: foldedText(word),
  }));
}

/** Tokens of a slice without those that its ends cut in two. */
function wholeTokens(text: string, from: number, to: number): FoundToken[] {
  return tokensIn(text.slice(from, to), from).filter(
    ({ start, end }) => (start > from || from === 0) && (end < to || to >= text.length),
  );
}

/** Indices into a list of tokens, end inclusive. */
interface Hit {
  from: number;
  to: number;
}

function hitsIn(found: readonly FoundToken[], sought: readonly SearchTokens[]): Hit[] {
  const hits: Hit[] = [];
  for (let from = 0; from < found.length; from += 1) {
    const lengths = sought.filter((word) => matchesAt(found, from, word)).map(({ tokens }) => tokens.length);
    if (lengths.length === 0) continue;
    const to = from + Math.max(...lengths) - 1;
    hits.push({ from, to });
    from = to;
  }
  return hits;
}

const matchesAt = (found: readonly FoundToken[], at: number, { tokens, begins }: SearchTokens): boolean =>
  tokens.every((token, index) => {
    const folded = found[at + index]?.folded ?? "";
    return folded === token || (begins && index === tokens.length - 1 && folded.startsWith(token));
  });

function piecesAround(text: string, at: number, sought: readonly SearchTokens[]): FoundPiece[] {
  const from = Math.max(0, at - CHARACTERS_BEFORE);
  const to = Math.min(text.length, at + CHARACTERS_AFTER);
  const near = wholeTokens(text, from, to);
  const first = Math.max(0, near.findIndex(({ start }) => start >= at) - WORDS_BEFORE);
  const tokens = near.slice(first, first + MAX_WORDS);
  const start = first === 0 && from === 0 ? 0 : (tokens[0]?.start ?? from);
  const end = first + MAX_WORDS >= near.length && to === text.length ? to : (tokens.at(-1)?.end ?? to);
  const pieces: FoundPiece[] = start === 0 ? [] : [{ text: "…" }];
  let written = start;
  for (const hit of hitsIn(tokens, sought)) {
    const [begins = 0, ends = 0] = [tokens[hit.from]?.start, tokens[hit.to]?.end];
    pieces.push({ text: normalizeText(text.slice(written, begins)) });
    pieces.push({ text: normalizeText(text.slice(begins, ends)), marked: true });
    written = ends;
  }
  pieces.push({ text: normalizeText(text.slice(written, end)) + (end < text.length ? "…" : "") });
  return pieces.filter((piece) => piece.text !== "");
}

const LONE_SURROGATES = /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g;

const normalizeText = (text: string): string => text.replaceAll(LONE_SURROGATES, "").replaceAll(/\s+/g, " ");
