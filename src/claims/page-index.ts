/** The sentences, clauses, table cells and words of a page, read once for all claims that cite it. */

import { type Claim, MAX_CLAIM_CHARACTERS } from "./evidence.ts";
import { isWithin, quantitiesIn, type Quantity, unitsIn } from "./figures.ts";
import { sentencesIn } from "./split/drafts.ts";
import { keysOf, wordsOf } from "./words.ts";
import type { PageText } from "../pages/page.ts";

/** A page, or another report that is compared like one. */
export interface ComparedPage extends PageText {
  isReport?: true;
}

export interface PageIndex {
  /** Neither it nor the claims are the source of the other. */
  isReport: boolean;
  /** The title first. */
  sentences: string[];
  /** The block of each sentence, counted from the title. */
  blocks: number[];
  /** The title and the blocks, normalised. */
  blockTexts: string[];
  /** For each sentence and clause, in the form of `statementKey`, the first sentence that has it. */
  statements: Map<string, number>;
  cells: Cell[];
  /** For each word (`keysOf`), the sentences that have it. */
  words: Map<string, number[]>;
  /** Words (`keysOf`) that the page or a claim has with a small letter. Others may be names at the start of a sentence. */
  small: Set<string>;
  /** Words with a capital inside a sentence of the page or of a claim. They are names at the start of one, too. */
  names: Set<string>;
}

/** A book has as many characters. All the work on a page is linear in them. */
const MAX_CHARACTERS = 1_000_000;
const MAX_SENTENCES = 5_000;
const MAX_SENTENCE_CHARACTERS = 3_000;
/** Reading one block is the longest time for which the event loop waits; real paragraphs are shorter. */
const MAX_BLOCK_CHARACTERS = 50_000;
/** A sentence of more clauses is a list. The number of ranges of clauses grows with the square of this. */
const MAX_CLAUSES = 12;

/** Yields after each block, so that a long page can be read in pieces; the last value is complete. */
export function* readPage(page: ComparedPage): Generator<PageIndex, PageIndex> {
  const title = readable(page.title.slice(0, MAX_SENTENCE_CHARACTERS));
  const index: PageIndex = {
    isReport: page.isReport ?? false,
    sentences: [],
    blocks: [],
    blockTexts: [],
    statements: new Map(),
    cells: [],
    words: new Map(),
    small: new Set(),
    names: new Set(),
  };
  addSentence(index, title, 0);
  index.blockTexts.push(comparable(title));
  let left = MAX_CHARACTERS;
  for (const [at, block] of page.blocks.entries()) {
    if (left <= 0 || index.sentences.length >= MAX_SENTENCES) break;
    addBlock(index, block.slice(0, Math.min(left, MAX_BLOCK_CHARACTERS)), at + 1);
    left -= block.length;
    yield index;
  }
  return index;
}

function addBlock(index: PageIndex, block: string, number: number): void {
  const text = readable(block);
  index.blockTexts[number] = comparable(text);
  const cell = cellOf(text);
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
  for (const word of keysOf(sentence)) {
    const found = index.words.get(word);
    if (found === undefined) index.words.set(word, [at]);
    else found.push(at);
  }
  addLetters(index, sentence);
}

const SMALL = /(?<![\p{L}\p{N}])\p{Ll}\p{L}+/gu;
const CAPITALISED = /(?<=[\p{L}\p{N},;)] )\p{Lu}\p{L}+/gu;

export function addLetters({ small, names }: PageIndex, text: string): void {
  for (const key of keysOf((text.match(SMALL) ?? []).join(" "))) small.add(key);
  // A title has capitals everywhere, and no full stop.
  if (!/[.!?]["')\]”]*$/u.test(text)) return;
  for (const key of keysOf((text.match(CAPITALISED) ?? []).join(" "))) names.add(key);
}

/** A comma or semicolon between clauses, not inside a number. */
const BOUNDARY = /[,;](?=\s)|(?<=\p{Lo})[,;、]/gu;

export const statementKey = (text: string): string =>
  withoutJoint(text.replace(/^[\s"'(]{1,9}/, "").replace(/[\s.!。,;"')]{1,9}$/u, ""));

/** The sentence, its clauses, and what lies between two ends of clauses. */
function statementsIn(sentence: string): string[] {
  const cuts = [0, ...[...sentence.matchAll(BOUNDARY)].map((cut) => cut.index + 1), sentence.length];
  if (cuts.length > MAX_CLAUSES + 1) return [statementKey(sentence)];
  return cuts.flatMap((start, from) => cuts.slice(from + 1).map((end) => statementKey(sentence.slice(start, end))));
}

/** The whole page at once. */
export function indexPage(page: ComparedPage): PageIndex {
  const reading = readPage(page);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  return step.value;
}

// The sentences of a page that are nearest to a claim.

const MAX_PASSAGE_CHARACTERS = 800;
/** A figure or date identifies a passage better than a word, and in every language. */
const FIGURE_WEIGHT = 3;

/** The sentences that share most with the claim, best first; rare words weigh more than words of every sentence. */
export function nearestSentences({ text, context }: Pick<Claim, "text" | "context">, page: PageIndex): number[] {
  const scores = new Map<number, number>();
  const words = wordsOf([...context, text].join(" ").slice(0, MAX_CLAIM_CHARACTERS));
  for (const word of new Set(words.filter(({ isContent }) => isContent).map(({ key }) => key))) {
    const found = page.words.get(word) ?? [];
    const weight = /^\d/.test(word) ? FIGURE_WEIGHT * rarity(word, page) : rarity(word, page);
    for (const at of found) scores.set(at, (scores.get(at) ?? 0) + weight);
  }
  // A title alone states nothing.
  scores.delete(0);
  return [...scores].toSorted(([a, one], [b, other]) => other - one || a - b).map(([at]) => at);
}

export const rarity = (word: string, { sentences, words }: PageIndex): number =>
  Math.log(1 + sentences.length / (1 + (words.get(word)?.length ?? 0)));

/** `This is not so.`, `Das stimmt nicht.`, `Wrong!`: about what the page has just said, not about what follows. */
const TAKEN_BACK =
  /^(?:(?:but|yet|however|aber|doch|mais),? )?(?:(?:(?:this|that|it|none|the|das|dies|es|cela|c'est)\b.{0,30}? )?(?:(?:not|never|n't|nicht|pas) (?:so|true|the case|correct|wahr|richtig|der fall|vrai|le cas)|false|wrong|untrue|incorrect|debunked|retracted|stimmte? nicht|falsch|unwahr|faux)|none of this is true)(?=[.!,]|$)|^(?:しかし、?|だが、?)?(?:これ|それ)は(?:誤り|間違い|嘘|事実では|本当では|正しく)/iu;

/** Whether the page says in the next sentence that this is not so. */
export const isTakenBack = (at: number, { sentences }: PageIndex): boolean =>
  TAKEN_BACK.test(comparable(sentences[at + 1]?.slice(0, 120) ?? ""));

/** A sentence with its neighbours in the same block. */
export function passageAround(at: number, { sentences, blocks }: PageIndex): string {
  const around = [at - 1, at, at + 1].filter((index) => blocks[index] === blocks[at]);
  const whole = around.map((index) => sentences[index] ?? "").join(" ");
  return whole.length <= MAX_PASSAGE_CHARACTERS ? whole : (sentences[at] ?? "").slice(0, MAX_PASSAGE_CHARACTERS);
}

// Forms of a text in which two spellings of the same words are equal.

/** Numbers in brackets and the like, as in an encyclopedia. */
const MARKS = /\[(?:\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,9}|[a-z]|(?:note|n|nb) \d{1,3}|citation needed)\]/giu;

/** As on the page, without marks of citations, invisible characters and the breaks of lines. */
export const readable = (text: string): string =>
  text
    .replaceAll(/[\u00AD\u200B\u2060\uFEFF]/gu, "")
    .replaceAll(/(?<=\p{L})-[^\S\n]{0,9}\n\s{0,9}(?=\p{Ll})/gu, "")
    .replaceAll(MARKS, "")
    .replaceAll(/\s+/gu, " ")
    .trim();

/** Words that join a sentence to the one before it, and a bullet: they say nothing that a page could have. */
const JOINT =
  /^(?:[•–-]\s)?(?:(?:additionally|also|and|besides|but|finally|for example|for instance|furthermore|however|in addition|in fact|in particular|meanwhile|moreover|notably|overall|similarly|specifically|außerdem|zudem|darüber hinaus|ferner|allerdings|jedoch|zum beispiel|insgesamt|de plus|en outre|cependant|toutefois|par exemple|par ailleurs),?\s)?(?=\S)/iu;
export const withoutJoint = (text: string): string => text.replace(JOINT, "");

/** Widths, quotation marks, dashes and case in one form. */
export const comparable = (text: string): string =>
  readable(text)
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\u2018\u2019\u201B\u02BC\u2032]/gu, "'")
    .replaceAll(/[\u201C\u201D\u201E\u201F\u00AB\u00BB]/gu, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/gu, "-")
    .replaceAll(/ (?=[.,;:!?)])/g, "");

// Compares a claim with the cells of a page's tables: `caption: row: column: value`.

const MAX_CELL_CHARACTERS = 400;

interface Cell {
  block: string;
  value: string;
  /** `row: column: ` and the other way round. */
  places: string[];
}

const keyOf = (parts: readonly string[]): string => parts.map(comparable).join(": ");

/** Undefined if the block is no cell. */
function cellOf(block: string): Cell | undefined {
  const parts = block.length > MAX_CELL_CHARACTERS ? [] : block.split(": ");
  if (parts.length < 3) return undefined;
  const [row = "", column = "", value = ""] = parts.slice(-3);
  return { block, value, places: [keyOf([row, column]), keyOf([column, row])] };
}

/** The cell with the row and column that the claim names, and whether it says the same; undefined where that is unclear. */
export function compareCell(
  claim: Pick<Claim, "text" | "context">,
  cells: readonly Cell[],
): { cell: Pick<Cell, "block" | "value">; isSame: boolean } | undefined {
  const parts = keyOf([...claim.context, claim.text]).split(": ");
  const [place, value = ""] = [parts.slice(0, -1).join(": "), parts.at(-1)];
  const found = cells.filter(({ places }) => places.includes(place));
  const same = found.find((cell) => comparable(cell.value) === value || isSameAmount(value, cell));
  if (same !== undefined) return { cell: same, isSame: true };
  const [cell, ...others] = found;
  return cell !== undefined && others.length === 0 && isOtherAmount(value, cell) ? { cell, isSame: false } : undefined;
}

/** `thousand tonnes` in a head multiplies what is below it. */
const SCALED = /thousand|[mb]illion|tausend|mill?i|tsd|mrd|mio|[千万億]/iu;

/** The only amount of a text that consists of it. */
function amountIn(text: string): Quantity | undefined {
  const [amount, ...others] = quantitiesIn(text);
  return amount?.start === 0 && amount.end === text.length && others.length === 0 ? amount : undefined;
}

/** The value may lack a unit that a head of its table names. */
function isSameAmount(claimed: string, { block, value }: Cell): boolean {
  const [own, stated] = [amountIn(claimed), amountIn(value)];
  if (own === undefined || own.value !== stated?.value) return false;
  const heads = block.slice(0, -value.length);
  return own.unit === stated.unit || (stated.unit === "" && !SCALED.test(heads) && unitsIn(heads).has(own.unit));
}

function isOtherAmount(claimed: string, { block, value }: Cell): boolean {
  const [own, stated] = [amountIn(claimed), amountIn(value)];
  if (own === undefined || stated === undefined || SCALED.test(block)) return false;
  return (
    !isWithin(Math.max(own.precision, stated.precision) / 2, own, stated) &&
    (own.unit === stated.unit || own.unit === "" || stated.unit === "")
  );
}
