/** The sentences, clauses, table cells and words of a page, read once for all claims that cite it. */

import type { PageText } from "../pages/page.ts";
import { type Language, languageOf } from "./language.ts";
import { comparable, readable, wordsIn } from "./normal-text.ts";
import { sentencesIn } from "./split/sentences.ts";
import { type Cell, cellOf } from "./table-cells.ts";

export interface PageIndex {
  /** The title first. */
  sentences: string[];
  /** The block of each sentence, counted from the title. */
  blocks: number[];
  /** The title and the blocks, normalised. */
  blockTexts: string[];
  /** For each sentence and clause, in the form of `statementKey`, the first sentence that has it. */
  statements: Map<string, number>;
  cells: Cell[];
  /** For each word, the sentences that have it. */
  words: Map<string, number[]>;
}

/** A book has as many characters. All the work on a page is linear in them. */
const MAX_CHARACTERS = 1_000_000;
const MAX_SENTENCES = 5_000;
const MAX_SENTENCE_CHARACTERS = 3_000;
/** Reading one block is the longest time for which the event loop waits; real paragraphs are shorter. */
const MAX_BLOCK_CHARACTERS = 50_000;
/** A sentence of more clauses is a list. The number of ranges of clauses grows with the square of this. */
const MAX_CLAUSES = 12;

/** `Basel, 7 May 2026 – ` before the first sentence of a report. */
const DATELINE = /^\p{Lu}[\p{L} ./-]{1,40}(?:,| \()[^–—]{0,30}?\)?\s(?:[–—]|-(?=\s))\s?/u;

/** Yields after each block, so that a long page can be read in pieces; the last value is complete. */
export function* readPage(page: PageText): Generator<PageIndex, PageIndex> {
  const title = readable(page.title.slice(0, MAX_SENTENCE_CHARACTERS));
  const index: PageIndex = {
    sentences: [],
    blocks: [],
    blockTexts: [],
    statements: new Map(),
    cells: [],
    words: new Map(),
  };
  addSentence(index, title, 0);
  index.blockTexts.push(comparable(title));
  const language = languageOf(page.blocks.slice(0, 100).join(" ")) ?? "en";
  let left = MAX_CHARACTERS;
  for (const [at, block] of page.blocks.entries()) {
    if (left <= 0 || index.sentences.length >= MAX_SENTENCES) break;
    addBlock(index, block.slice(0, Math.min(left, MAX_BLOCK_CHARACTERS)), { number: at + 1, title, language });
    left -= block.length;
    yield index;
  }
  return index;
}

interface Surroundings {
  number: number;
  title: string;
  language: Language;
}

function addBlock(index: PageIndex, block: string, { number, title, language }: Surroundings): void {
  const text = readable(block).replace(DATELINE, "");
  index.blockTexts[number] = comparable(text);
  const cell = cellOf(text, title, language);
  if (cell !== undefined) index.cells.push(cell);
  for (const { start, end } of sentencesIn(text)) {
    if (index.sentences.length >= MAX_SENTENCES) break;
    addSentence(index, text.slice(start, Math.min(end, start + MAX_SENTENCE_CHARACTERS)), number);
  }
}

function addSentence(index: PageIndex, sentence: string, block: number): void {
  const at = index.sentences.push(sentence) - 1;
  index.blocks.push(block);
  for (const statement of statementsIn(comparable(sentence))) {
    if (!index.statements.has(statement)) index.statements.set(statement, at);
  }
  for (const word of new Set(wordsIn(sentence).map(stemOf))) {
    const found = index.words.get(word);
    if (found === undefined) index.words.set(word, [at]);
    else found.push(at);
  }
}

/** Inflected forms of a word share its beginning; a number has no separators. */
const STEM_CHARACTERS = 6;
export const stemOf = (word: string): string =>
  /^\d/.test(word) ? word.replaceAll(/[.,]/g, "") : word.slice(0, STEM_CHARACTERS);

/** A comma or semicolon between clauses, not inside a number. */
const BOUNDARY = /[,;](?=\s)|(?<=\p{Lo})[,;、]/gu;

export const statementKey = (text: string): string =>
  text.replace(/^[\s"'(]{1,9}/, "").replace(/[\s.!。,;"')]{1,9}$/u, "");

/** The sentence, its clauses, and what lies between two ends of clauses. */
function statementsIn(sentence: string): string[] {
  const cuts = [0, ...[...sentence.matchAll(BOUNDARY)].map((cut) => cut.index + 1), sentence.length];
  if (cuts.length > MAX_CLAUSES + 1) return [statementKey(sentence)];
  return cuts.flatMap((start, from) => cuts.slice(from + 1).map((end) => statementKey(sentence.slice(start, end))));
}

/** The whole page at once. */
export function indexPage(page: PageText): PageIndex {
  const reading = readPage(page);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  return step.value;
}
