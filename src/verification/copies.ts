/** Recognises pages with the same text, such as one agency report on many sites, by their paragraphs. */

import { hash } from "node:crypto";

/** Shorter blocks are menus, dates and buttons, which differ between sites. */
const MIN_BLOCK_CHARACTERS = 60;
const MAX_BLOCKS = 200;
/** A text with fewer characters in such blocks is too short to call another one its copy. */
const MIN_CHARACTERS = 150;
/** Of the paragraphs of the shorter text. */
const MIN_SHARED = 0.6;

/** A short hash of each paragraph; undefined if the text is too short to compare. */
export function shinglesOf(blocks: readonly string[]): number[] | undefined {
  const long = blocks.filter(({ length }) => length >= MIN_BLOCK_CHARACTERS).slice(0, MAX_BLOCKS);
  if (long.join("").length < MIN_CHARACTERS) return undefined;
  return [...new Set(long.map((block) => Number.parseInt(hash("sha256", block.toLowerCase()).slice(0, 12), 16)))];
}

interface Text {
  source: number;
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

function isCopy({ shingles: one = [] }: Text, { shingles: other = [] }: Text): boolean {
  const shared = one.filter((hashed) => other.includes(hashed)).length;
  return shared > 0 && shared >= MIN_SHARED * Math.min(one.length, other.length);
}
