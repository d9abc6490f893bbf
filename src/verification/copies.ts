/** Recognises pages with the same text, such as one agency report on many sites, by a sketch of their word sequences. */

import { wordsIn } from "../claims/words.ts";

const WORDS_PER_SHINGLE = 6;
const MAX_WORDS = 20_000;
/** The smallest hashes of a text; two sketches of this size estimate similarity within about 0.1. */
const SKETCH_SIZE = 96;
/** Shorter blocks are menus, dates and buttons, which differ between sites. */
const MIN_BLOCK_CHARACTERS = 60;
/** A text with fewer shingles is too short to call another one its copy. */
const MIN_SHINGLES = 30;
const MIN_SIMILARITY = 0.6;

/** The sketch of a text; undefined if it is too short to compare. */
export function shinglesOf(blocks: readonly string[]): number[] | undefined {
  const hashes = new Set<number>();
  let words: string[] = [];
  let count = 0;
  for (const block of blocks) {
    if (block.length < MIN_BLOCK_CHARACTERS) continue;
    for (const word of wordsIn(block)) {
      if ((count += 1) > MAX_WORDS) break;
      words = [...words.slice(1 - WORDS_PER_SHINGLE), word];
      if (words.length === WORDS_PER_SHINGLE) hashes.add(hashOf(words.join(" ")));
    }
  }
  if (hashes.size < MIN_SHINGLES) return undefined;
  return [...hashes].toSorted((one, other) => one - other).slice(0, SKETCH_SIZE);
}

/** FNV-1a, 32 bits: fast, and good enough for a sketch that decides nothing alone. */
function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93);
  return hash >>> 0;
}

/** The share of common word sequences, estimated from two sketches. */
function similarity(one: readonly number[], other: readonly number[]): number {
  const [first, second] = [new Set(one), new Set(other)];
  const smallest = [...new Set([...one, ...other])].toSorted((a, b) => a - b).slice(0, SKETCH_SIZE);
  return smallest.filter((hash) => first.has(hash) && second.has(hash)).length / smallest.length;
}

interface Text {
  source: number;
  hash?: string | undefined;
  shingles?: readonly number[] | undefined;
}

/** Groups of sources with the same text, each with at least two, by the lowest number. */
export function copiesAmong(texts: readonly Text[]): number[][] {
  const groups: Text[][] = [];
  for (const text of texts.toSorted((one, other) => one.source - other.source)) {
    const group = groups.find(([first]) => first !== undefined && isCopy(first, text));
    if (group === undefined) groups.push([text]);
    else group.push(text);
  }
  return groups.filter(({ length }) => length > 1).map((group) => group.map(({ source }) => source));
}

function isCopy(one: Text, other: Text): boolean {
  if (one.shingles === undefined || other.shingles === undefined) return false;
  if (one.hash !== undefined && one.hash === other.hash) return true;
  return similarity(one.shingles, other.shingles) >= MIN_SIMILARITY;
}
