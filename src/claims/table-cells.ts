/** Compares a claim with the cells of a page's tables: `caption: row: column: value`. */

import type { Claim } from "./claim.ts";
import { figuresIn } from "./figures/figures.ts";
import { type Quantity, quantitiesIn, sameAmount } from "./figures/quantities.ts";
import type { Language } from "./language.ts";
import { comparable, wordsIn } from "./normal-text.ts";

const MAX_CELL_CHARACTERS = 400;
/** A claim with more amounts is about more than one cell. */
const MAX_AMOUNTS = 8;

export interface Cell {
  block: string;
  /** `row: column: value`, and with the column first. */
  keys: string[];
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
export function cellOf(block: string, title: string, language: Language): Cell | undefined {
  const parts = block.length > MAX_CELL_CHARACTERS ? [] : block.split(": ");
  if (parts.length < 3) return undefined;
  const [row = "", column = "", value = ""] = parts.slice(-3);
  const caption = parts.slice(0, -3).join(" ");
  const { quantities, rest } = figuresIn(value, language);
  const isAmount = quantities.length === 1 && wordsIn(rest).length === 0 && /\p{L}/u.test(row);
  const { scaled, phrase = "" } = (isAmount ? scaledValue(value, [column, caption, title], language) : undefined) ?? {};
  return {
    block,
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
      sameAmount(amount, stated) || (amount.unit === "" && amount.value === stated.value);
    if (!amounts.some(isSame)) return false;
    return [...words].every((word) => NEUTRAL.has(word) || isNamed(word) || own.has(word));
  })?.block;
}
