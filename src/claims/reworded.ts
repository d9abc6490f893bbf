/**
 * Whether a report says in other words what a sentence of another one says: one of its sentences, or two that follow one
 * another, have the same figures, dates and names, and about half of its other words.
 */

import { type Claim, displayedClaim } from "./evidence.ts";
import { type DateMention, figuresIn, includesDate, type Quantity } from "./figures.ts";
import { areOpposites, directionOf, hasOtherDirection, hasOtherNegation, isGerman } from "./language.ts";
import { readable, withoutJoint } from "./page-index.ts";
import { isSpaceless, type Word, wordsOf } from "./words.ts";

/** Of the words besides figures, dates and names. */
const MIN_SHARED = 0.5;
/** Of a sentence without any of those: what makes it another statement may be a single word. */
const MIN_SHARED_PLAIN = 0.75;
const MIN_WORDS_PLAIN = 4;

/** A sentence, or two, as it is compared. */
export interface Saying {
  text: string;
  quantities: Amount[];
  dates: DateMention[];
  /** In their order. */
  names: string[];
  /** The other words that say something. */
  words: Map<string, Word>;
  /** Of all words. */
  keys: ReadonlySet<string>;
}

interface Amount extends Quantity {
  isNegative: boolean;
}

/** The sentences of a report, and each two that follow one another: one may be split in two, or two be made one. */
export function readSayings(claims: readonly Claim[], names: ReadonlySet<string>): Saying[] {
  const texts = claims.map(asWritten);
  return [...texts, ...texts.slice(1).map((text, index) => `${texts[index]} ${text}`)].map((text) =>
    readSaying(text, names),
  );
}

export const saysTheSame = (claim: Claim, others: readonly Saying[], names: ReadonlySet<string>): boolean => {
  const own = readSaying(asWritten(claim), names);
  return others.some((other) => isSaidBy(own, other));
};

/** Who says so is no part of what is said. */
const ATTRIBUTION =
  /^(?:according to|as reported by|based on|laut|nach angaben|selon|d'après)\s[^,]{1,80},\s|^(?:(?:the|several|most|recent) )?(?:sources|reports|data|figures|studies) (?:agree|say|show|indicate|suggest|confirm)(?: that)?\s/iu;

/** Without what introduces it, and with the minus sign as a word. */
const asWritten = (claim: Claim): string =>
  withoutJoint(readable(displayedClaim(claim)))
    .replace(ATTRIBUTION, "")
    .replaceAll(/(?<![\p{L}\p{N}])[-\u2212](?=\d)/gu, "minus ");

/** Words that have a capital within a sentence, and never else are without: at the start of a sentence they may be names. */
export function namesOf(claims: readonly Claim[]): Set<string> {
  const names = new Set<string>();
  const plain = new Set<string>();
  for (const claim of claims) {
    const text = asWritten(claim);
    const isWithNouns = isGerman(text);
    for (const word of wordsOf(text)) {
      if (!word.isCapitalised) plain.add(word.key);
      else if (isWithNouns ? isAcronym(word) : word.isContent && !isFirst(word, text)) names.add(word.key);
    }
  }
  return new Set([...names].filter((name) => !plain.has(name)));
}

const isAcronym = ({ text }: Word): boolean => /^\p{Lu}{2,}$/u.test(text);
const isFirst = ({ start }: Word, text: string): boolean => /(?:^|[.:!?]\s)\P{L}*$/u.test(text.slice(0, start));

function readSaying(text: string, known: ReadonlySet<string>): Saying {
  const { text: read, quantities, dates } = figuresIn(text);
  const figures = [...quantities, ...dates];
  const words = wordsOf(read);
  const rest = words.filter(
    ({ isContent, start, end }) => isContent && !figures.some((figure) => start < figure.end && figure.start < end),
  );
  const isName = ({ key, isCapitalised }: Word): boolean => isCapitalised && known.has(key);
  return {
    text: read,
    quantities: quantities.map((quantity) => ({
      ...quantity,
      isNegative:
        /minus\s$/i.test(read.slice(0, quantity.start)) ||
        /^[^.,;]{0,20}below (?:zero|freezing)/i.test(read.slice(quantity.end)),
    })),
    dates,
    names: rest.filter(isName).map(({ key }) => key),
    // A rise is a rise, whichever verb reports it.
    words: new Map(rest.filter((word) => !isName(word)).map((word) => [directionOf(word.text) ?? word.key, word])),
    keys: new Set(words.map(({ key }) => key)),
  };
}

function isSaidBy(own: Saying, other: Saying): boolean {
  if (!hasAmounts(own, other) || !own.names.every((name) => other.keys.has(name))) return false;
  if (!own.dates.every((one) => other.dates.some((two) => includesDate(two, one) || includesDate(one, two))))
    return false;
  if (isSpaceless(own.text) || hasOtherNegation(own.text, other.text) || hasOtherDirection(own.text, other.text)) {
    return false;
  }
  const missing = [...own.words].flatMap(([key, word]) => (other.words.has(key) || other.keys.has(key) ? [] : word));
  const shared = own.words.size - missing.length;
  const instead = [...other.words].flatMap(([key, word]) => (own.words.has(key) ? [] : word));
  const isPlain = own.quantities.length + own.dates.length + own.names.length === 0;
  const isSameBag = missing.length + instead.length === 0 && own.names.length === other.names.length;
  const isEnough = isPlain
    ? isSameBag || (shared >= MIN_SHARED_PLAIN * own.words.size && shared >= MIN_WORDS_PLAIN)
    : shared >= MIN_SHARED * own.words.size;
  if (!isEnough) return false;
  if (missing.some(({ text }) => instead.some((word) => areOpposites(text, word.text)))) return false;
  // Another name at the start, where each word has a capital.
  if (
    missing.length > 0 &&
    instead.length > 0 &&
    [...missing, ...instead].every(({ isCapitalised }) => isCapitalised)
  ) {
    return false;
  }
  // The same words in another order: who does what to whom may be the other way round.
  return !isSameBag || own.names.every((name, index) => name === other.names[index]);
}

/** Those of a unit in the same order: from 20 to 80 percent is not from 80 to 20. */
function hasAmounts({ quantities }: Saying, other: Saying): boolean {
  const from = new Map<string, number>();
  return quantities.every((one) => {
    const at = other.quantities.findIndex(
      (two, index) => index >= (from.get(units(one, two)) ?? 0) && isSameAmount(one, two),
    );
    from.set(units(one, other.quantities[at]), at + 1);
    return at >= 0;
  });
}

const units = (one: Amount, two: Amount | undefined): string => `${one.unit} ${two?.unit}`;

const EXACT = 1e-9;

/** A unit may be written in a way that is not read, but not an amount of money or a share. */
const isSameAmount = (one: Amount, two: Amount): boolean =>
  one.isNegative === two.isNegative &&
  Math.abs(one.value - two.value) <= EXACT * Math.abs(one.value) &&
  (one.unit === two.unit ||
    ([one.unit, two.unit].includes("") && !/^[A-Z]{3}$|^percent$|^points$/.test(one.unit + two.unit)));
