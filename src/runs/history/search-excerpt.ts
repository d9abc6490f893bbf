/**
 * The piece of a question or report in which the words of a search stand. The index could make one itself, but takes
 * minutes for a report that says one word often.
 */

import { type FoundPiece, foldedText, type SearchWord } from "./search-terms.ts";

/** A word as the index has it: more than one token where it holds other characters, or is a phrase. */
export interface Sought {
  tokens: string[];
  begins: boolean;
}

/** How many more characters may be looked through, for all that is shown together. */
export interface ExcerptAllowance {
  characters: number;
}

interface FoundToken {
  start: number;
  end: number;
  folded: string;
}

const TOKEN = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

const SLICE = 4_000;
/** A word or phrase that stands across the end of a slice is found in the next. */
const OVERLAP = 200;

const MOST_WORDS = 24;
const WORDS_BEFORE = 6;
const CHARACTERS_BEFORE = 200;
const CHARACTERS_AFTER = 400;

export const soughtIn = (words: readonly SearchWord[]): Sought[] =>
  words
    .map(({ text, begins }) => ({ tokens: tokensIn(text).map(({ folded }) => folded), begins }))
    .filter(({ tokens }) => tokens.length > 0);

/** Of the question when all words are in it, else where the others are; of the beginning when they are too far away. */
export function excerptOf(
  { question, report }: { question: string; report: string },
  sought: readonly Sought[],
  allowance: ExcerptAllowance,
): FoundPiece[] {
  const asked = wholeTokens(question, 0, SLICE);
  const others = sought.filter((word) => hitsIn(asked, [word]).length === 0);
  const inReport = others.length === 0 ? undefined : firstHit(report, others, allowance);
  const [inQuestion] = hitsIn(asked, sought);
  if (inReport !== undefined || inQuestion === undefined) return piecesAround(report, inReport ?? 0, sought);
  return piecesAround(question, asked[inQuestion.from]?.start ?? 0, sought);
}

function firstHit(text: string, sought: readonly Sought[], allowance: ExcerptAllowance): number | undefined {
  for (let from = 0; from < text.length && allowance.characters > 0; from += SLICE) {
    allowance.characters -= SLICE;
    const start = Math.max(0, from - OVERLAP);
    const slice = text.slice(start, from + SLICE);
    // Most slices hold none of them, and to look for letters is faster than to tell the words.
    const letters = foldedText(slice);
    if (!sought.some(({ tokens: [first = ""] }) => letters.includes(first))) continue;
    const tokens = wholeTokens(text, start, from + SLICE);
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

/** Without those that the cut goes through: half a word would be another one. */
function wholeTokens(text: string, from: number, to: number): FoundToken[] {
  return tokensIn(text.slice(from, to), from).filter(
    ({ start, end }) => (start > from || from === 0) && (end < to || to >= text.length),
  );
}

/** Places in a list of tokens; the last is part of it. */
interface Hit {
  from: number;
  to: number;
}

function hitsIn(found: readonly FoundToken[], sought: readonly Sought[]): Hit[] {
  const hits: Hit[] = [];
  for (let from = 0; from < found.length; from += 1) {
    const lengths = sought.filter((word) => standsAt(found, from, word)).map(({ tokens }) => tokens.length);
    if (lengths.length === 0) continue;
    const to = from + Math.max(...lengths) - 1;
    hits.push({ from, to });
    from = to;
  }
  return hits;
}

const standsAt = (found: readonly FoundToken[], at: number, { tokens, begins }: Sought): boolean =>
  tokens.every((token, index) => {
    const folded = found[at + index]?.folded ?? "";
    return folded === token || (begins && index === tokens.length - 1 && folded.startsWith(token));
  });

function piecesAround(text: string, at: number, sought: readonly Sought[]): FoundPiece[] {
  const from = Math.max(0, at - CHARACTERS_BEFORE);
  const to = Math.min(text.length, at + CHARACTERS_AFTER);
  const near = wholeTokens(text, from, to);
  const first = Math.max(0, near.findIndex(({ start }) => start >= at) - WORDS_BEFORE);
  const tokens = near.slice(first, first + MOST_WORDS);
  const start = first === 0 && from === 0 ? 0 : (tokens[0]?.start ?? from);
  const end = first + MOST_WORDS >= near.length && to === text.length ? to : (tokens.at(-1)?.end ?? to);
  const pieces: FoundPiece[] = start === 0 ? [] : [{ text: "…" }];
  let written = start;
  for (const hit of hitsIn(tokens, sought)) {
    const [begins = 0, ends = 0] = [tokens[hit.from]?.start, tokens[hit.to]?.end];
    pieces.push({ text: shown(text.slice(written, begins)) });
    pieces.push({ text: shown(text.slice(begins, ends)), marked: true });
    written = ends;
  }
  pieces.push({ text: shown(text.slice(written, end)) + (end < text.length ? "…" : "") });
  return pieces.filter((piece) => piece.text !== "");
}

const HALF_CHARACTERS = /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g;

const shown = (text: string): string => text.replaceAll(HALF_CHARACTERS, "").replaceAll(/\s+/g, " ");
