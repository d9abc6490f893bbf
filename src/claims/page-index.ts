/** The sentences, clauses, table cells and words of a page, read once for all claims that cite it. */

import { type Claim, MAX_CLAIM_CHARACTERS } from "./evidence.ts";
import { figuresIn, quantitiesIn, type Quantity } from "./figures.ts";
import { type Language, languageOf } from "./language.ts";
import { sentencesIn } from "./split/drafts.ts";
import { keysOf, wordsIn, wordsOf } from "./words.ts";
import type { PageText } from "../pages/page.ts";

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
  /** For each word (`keysOf`), the sentences that have it. */
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
  for (const word of keysOf(sentence)) {
    const found = index.words.get(word);
    if (found === undefined) index.words.set(word, [at]);
    else found.push(at);
  }
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
export function indexPage(page: PageText): PageIndex {
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

const IT = String.raw`(?:(?:but|yet|however|in fact|actually),? )?(?:th(?:is|at|ese|ose)(?: [a-z]+)?|it|both|the (?:claim|statement|report|story|figure|study|rumou?r)s?)`;
const TRUE = "(?:so|true|the case|correct|right|accurate)";

/** `This is not so.`, `Das stimmt nicht.`, `Wrong!`: about what the page has just said, not about what follows. */
const TAKEN_BACK = new RegExp(
  String.raw`^(?:${[
    String.raw`${IT} (?:is|was|are|were)(?:n't| not| never)(?: actually| entirely| quite| really)? ${TRUE}`,
    String.raw`${IT} (?:is|was|are|were)(?: \w+)? (?:false|wrong|untrue|incorrect|mistaken|inaccurate|a (?:myth|hoax|lie|mistake|misconception))`,
    String.raw`${IT} (?:was|were|(?:has|have) (?:since )?been)(?: later)? (?:debunked|denied|disproved|refuted|retracted|withdrawn)`,
    String.raw`(?:none|nothing|neither)\b.{0,30} (?:is|was|are|were) ${TRUE}`,
    String.raw`(?:not so|not true|wrong|false|untrue|incorrect|falsch|faux)(?=\s?[.!:]|$)`,
    String.raw`(?:(?:aber|doch) )?(?:das|dies|es|beides) (?:stimmte?|(?:ist|war|sind|waren))(?: aber| jedoch| so)? (?:nicht|falsch|unwahr|ein (?:irrtum|mythos))(?= wahr| richtig| so| der fall|\s?[.,!])`,
    String.raw`(?:mais )?(?:cela n'est pas (?:vrai|le cas|exact)|c'est (?:faux|inexact|une erreur))`,
  ].join("|")})(?!\p{L})(?! that\b)|^(?:しかし、?|だが、?)?(?:これ|それ)は(?:誤り|間違い|嘘|事実では|本当では|正しく)`,
  "iu",
);

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
/** A claim with more amounts is about more than one cell. */
const MAX_AMOUNTS = 8;

export interface Cell {
  block: string;
  /** `row: column: value`, and with the column first. */
  keys: string[];
  value: string;
  /** The value as it is written, and in the unit that its column, the caption or the page's title names, if it is an amount. */
  amounts: Quantity[];
  /** The words of row and column, all of which a claim must have. */
  heads: ReadonlySet<string>;
  /** Further words that a claim may have: those of the caption and of the page's title. */
  about: ReadonlySet<string>;
}

/** Words that add nothing to a value. All others, negations and comparisons among them, must be heads. */
const NEUTRAL = new Set(
  `s the a an of in on at for is are was were has had to came stood reached amounted totalled der die das den dem des ein eine
   im am an von bei für ist war hat hatte lag betrug erreichte le la les l un une de du des d en à au dans pour est était
   a avait comptait atteignait`.split(/\s+/),
);

const wordSet = (text: string): Set<string> =>
  new Set(wordsIn(text).map((word) => word.replace(/(?<=\p{L}{3})s$/u, "")));

/** Undefined if the block is no cell. */
function cellOf(block: string, title: string, language: Language): Cell | undefined {
  const parts = block.length > MAX_CELL_CHARACTERS ? [] : block.split(": ");
  if (parts.length < 3) return undefined;
  const [row = "", column = "", value = ""] = parts.slice(-3);
  const caption = parts.slice(0, -3).join(" ");
  const quantities = quantitiesIn(value, language);
  const [amount] = quantities;
  const rest = value.slice(0, amount?.start) + value.slice(amount?.end);
  const isAmount = quantities.length === 1 && wordsIn(rest).length === 0 && /\p{L}/u.test(row);
  const { scaled, phrase = "" } = (isAmount ? scaledValue(value, [column, caption, title], language) : undefined) ?? {};
  return {
    block,
    value,
    keys: [keyOf([row, column, value]), keyOf([column, row, value])],
    amounts: isAmount ? [...quantities, ...(scaled === undefined ? [] : [scaled])] : [],
    // A claim need not repeat the unit.
    heads: wordSet(`${row} ${column.replace(phrase, "")}`),
    about: wordSet(`${caption} ${title}`),
  };
}

/** `thousand tonnes` at the end of `Harvest, thousand tonnes`; `EUR million` of `Revenue (EUR million)`. */
const UNIT_PHRASE = /(?:^|[,(–]\s?|\bin\s)(?<phrase>[^,()–]{1,40})\)?$/iu;
const CODE_FIRST = /^(?<sign>[A-Z]{3}|[€$£¥])\s?(?<scale>.*)$/u;

/** By the first of the texts that ends with a unit, for a value without one. */
function scaledValue(
  value: string,
  texts: readonly string[],
  language: Language,
): { scaled: Quantity; phrase: string } | undefined {
  for (const text of texts) {
    const { phrase = "" } = UNIT_PHRASE.exec(text)?.groups ?? {};
    const { sign, scale = "" } = CODE_FIRST.exec(phrase)?.groups ?? {};
    const written = sign === undefined ? `${value} ${phrase}` : `${sign} ${value} ${scale}`.trim();
    const [scaled, ...others] = quantitiesIn(written, language);
    const isWhole = scaled?.start === 0 && scaled.end === written.length && others.length === 0;
    if (isWhole && scaled.unit !== "" && phrase !== "") return { scaled, phrase };
  }
  return undefined;
}

const keyOf = (parts: readonly string[]): string => parts.map(comparable).join(": ");

/**
 * The cell that states the claim. Either they have the same row, column and value, or the claim names row and column,
 * has the value and says nothing else.
 */
export function matchTableCell(claim: Pick<Claim, "text" | "context">, cells: readonly Cell[]): string | undefined {
  if (cells.length === 0) return undefined;
  const key = keyOf([...claim.context, claim.text]);
  const { quantities, text } = figuresIn([...claim.context, claim.text].join(" "));
  if (quantities.length > MAX_AMOUNTS) return undefined;
  const words = wordSet(text);
  const written = quantities.map((amount) => ({ amount, own: wordSet(text.slice(amount.start, amount.end)) }));
  return cells.find(({ keys, heads, about, amounts }) => {
    if (keys.includes(key)) return true;
    if (![...heads].every((word) => words.has(word))) return false;
    const isNamed = (word: string): boolean => heads.has(word) || about.has(word);
    const [claimed, ...others] = written.filter(({ own }) => ![...own].every(isNamed));
    if (claimed === undefined || others.length > 0) return false;
    const { amount, own } = claimed;
    const isSame = (stated: Quantity): boolean =>
      amount.value === stated.value && (amount.unit === stated.unit || amount.unit === "");
    if (!amounts.some(isSame)) return false;
    return [...words].every((word) => NEUTRAL.has(word) || isNamed(word) || own.has(word));
  })?.block;
}

/** The only cell with the claim's row and column, if it has another amount of the same unit. */
export function otherCell(
  claim: Pick<Claim, "text" | "context">,
  cells: readonly Cell[],
): { passage: string; pageSays: string } | undefined {
  const place = /^(.+: .+): [^:]+$/u.exec(keyOf([...claim.context, claim.text]))?.[1];
  const [cell, ...others] =
    place === undefined ? [] : cells.filter(({ keys }) => keys.some((key) => key.startsWith(`${place}: `)));
  if (cell === undefined || others.length > 0) return undefined;
  const [claimed, ...more] = quantitiesIn(claim.text, "en");
  const isOther =
    claimed !== undefined &&
    more.length === 0 &&
    cell.amounts.length > 0 &&
    cell.amounts.every(
      ({ unit, value }) => (unit === claimed.unit || claimed.unit === "" || unit === "") && value !== claimed.value,
    );
  return isOther ? { passage: cell.block, pageSays: cell.value } : undefined;
}
