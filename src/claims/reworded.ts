/**
 * Whether a report says in other words what a sentence of another one says: one of its sentences, or two that follow one
 * another, have the same figures, dates and names, and about half of its other words, and no word in the place of another.
 */

import { type Claim, displayedClaim } from "./evidence.ts";
import { type Amount as WrittenAmount, isUnchanged, readStatement } from "./conflict.ts";
import { type DateMention, includesDate } from "./figures.ts";
import { areOpposites, directionOf, isGerman, isNegated } from "./language.ts";
import { readable, withoutJoint } from "./page-index.ts";
import { isSpaceless, keysOf, type Word, wordsOf } from "./words.ts";

/** Of the words besides figures, dates and names. */
const MIN_SHARED = 0.5;
/** Of a sentence without any of those: what makes it another statement may be a single word. */
const MIN_SHARED_PLAIN = 0.75;
const MIN_WORDS_PLAIN = 4;

/** A sentence, or two, as it is compared: read once, since each is compared with all of the other report. */
export interface Saying {
  quantities: Amount[];
  dates: DateMention[];
  /** In their order. */
  names: string[];
  /** The other words that say something. */
  words: Map<string, Word>;
  /** Of all words, as they are written and as they are compared. */
  keys: ReadonlySet<string>;
  /** Figures, dates and the words that say something, in their order. */
  parts: Part[];
  isPair?: true;
  isNegated: boolean;
  isReversed: boolean;
  direction: ReturnType<typeof directionOf>;
}

interface Part {
  key: string;
  word: Word | undefined;
}

interface Amount extends WrittenAmount {
  isNegative: boolean;
}

/** The sentences of a report, and each two that follow one another: one may be split in two, or two be made one. */
export function readSayings(claims: readonly Claim[], names: ReadonlySet<string>): Saying[] {
  const texts = claims.map(asWritten);
  const single = texts.map((text) => readSaying(text, names));
  const pairs = single.slice(1).flatMap((second, index): Saying[] => {
    const first = single[index];
    return first === undefined || hasOwnAmount(first, second)
      ? []
      : [{ ...readSaying(`${texts[index]} ${texts[index + 1]}`, names), isPair: true }];
  });
  return [...single, ...pairs];
}

/** Then it is open which of the two sentences an amount belongs to. */
const hasOwnAmount = (first: Saying, second: Saying): boolean =>
  first.quantities.some((one) => second.quantities.some((two) => one.unit === two.unit));

export const saysTheSame = (claim: Claim, others: readonly Saying[], names: ReadonlySet<string>): boolean => {
  const text = asWritten(claim);
  const own = readSaying(text, names);
  return !isSpaceless(text) && others.some((other) => isSaidBy(own, other));
};

/** An attribution is no part of the statement, unless it has a date: another census counts other people. */
const ATTRIBUTION =
  /^(?:according to|as reported by|based on|laut|nach angaben|selon|d'après)\s[^,\d]{1,80},\s|^(?:(?:the|several|most|recent) )?(?:sources|reports|data|figures|studies) (?:agree|say|show|indicate|suggest|confirm)(?: that)?\s/iu;

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
  const { text: read, words, quantities, dates } = readStatement(text);
  const figures = [...quantities, ...dates];
  const rest = words.filter(
    ({ isContent, start, end }) => isContent && !figures.some((figure) => start < figure.end && figure.start < end),
  );
  const isName = ({ key, isCapitalised }: Word): boolean => isCapitalised && known.has(key);
  const keyOf = (word: Word): string => (isName(word) ? word.key : meaningOf(word));
  return {
    quantities: quantities.map((quantity) => ({
      ...quantity,
      isNegative:
        /minus\s$/i.test(read.slice(0, quantity.start)) ||
        /^[^.,;]{0,20}below (?:zero|freezing)/i.test(read.slice(quantity.end)),
    })),
    dates,
    names: rest.filter(isName).map(({ key }) => key),
    words: new Map(rest.filter((word) => !isName(word)).map((word) => [keyOf(word), word])),
    keys: new Set([...words.map(({ key }) => key), ...rest.map(keyOf)]),
    parts: [
      ...rest.map((word) => ({ key: keyOf(word), word, start: word.start })),
      ...quantities.map(({ value, start }) => ({ key: `${value}`, word: undefined, start })),
      ...dates.map(({ start, year, month, day, quarter }) => ({
        key: [year, month, day, quarter].join("/"),
        word: undefined,
        start,
      })),
    ].toSorted((one, two) => one.start - two.start),
    isNegated: isNegated(read),
    isReversed: words.some(({ key }) => REVERSALS.has(key)),
    direction: directionOf(read),
  };
}

/** Words of which one may stand for another, with forms that have no stem in common. */
const SYNONYMS = new Map(
  `build built construct erect/say said state/buy bought acquire purchase/open start begin began begun launch/
  found establish set/company firm business/worker employee staff/inhabitant resident/receive got obtain/visit went/
  plan intend/finish complete/show indicate suggest/largest biggest/pay paid give gave given grant/home house/
  child children kid/car vehicle automobile/first earliest/cover include comprise/sell sold/make made produce manufacture/
  need require/use employ utilise/remain still/buyer customer/
  help assist/big large/small little/fast quick/near close/often frequent/main chief`
    .split(/\/\s*/)
    .flatMap((group) => [...keysOf(group)].map((key, _at, [first = key]) => [key, first] as const)),
);

/** With one of these a sentence reports the end of what it says otherwise. */
const REVERSALS = keysOf(
  `abandon abolish abort cancel deny denied discontinue halt overturn postpone reject repeal rescind reverse revoke scrap
  suspend withdraw withdrew withdrawn aufgegeben abgelehnt abgeschafft aufgehoben verworfen abandonné annulé rejeté`,
);

/** A rise is a rise, whichever verb reports it. */
const meaningOf = ({ key, text }: Word): string => directionOf(text) ?? SYNONYMS.get(key) ?? key;

function isSaidBy(own: Saying, other: Saying): boolean {
  // Cheap, and false for nearly all pairs.
  const isPlain = own.quantities.length + own.dates.length + own.names.length === 0;
  if (!sharesWords(own, other, isPlain ? MIN_SHARED_PLAIN : MIN_SHARED)) return false;
  if (!hasNames(own, other) || !hasAmounts(own, other) || !hasDates(own, other) || isOpposite(own, other)) return false;
  const missing = [...own.words].flatMap(([key, word]) => (other.keys.has(key) ? [] : word));
  const instead = [...other.words].flatMap(([key, word]) => (own.words.has(key) ? [] : word));
  const isSameBag = missing.length + instead.length === 0 && own.names.length === other.names.length;
  if (isPlain && !isSameBag && own.words.size - missing.length < MIN_WORDS_PLAIN) return false;
  if (missing.some(({ text }) => instead.some((word) => areOpposites(text, word.text)))) return false;
  // Another name at the start, where each word has a capital.
  if (
    missing.length > 0 &&
    instead.length > 0 &&
    [...missing, ...instead].every(({ isCapitalised }) => isCapitalised)
  ) {
    return false;
  }
  if (hasReplacement(own, other)) return false;
  // The same words in another order: subject and object may be exchanged.
  return !isSameBag || own.names.every((name, index) => name === other.names[index]);
}

/** What one of two sentences says of its name is not said of the other's. */
const hasNames = (own: Saying, other: Saying): boolean =>
  own.names.every((name) => other.keys.has(name)) &&
  (other.isPair !== true || other.names.every((name) => own.keys.has(name)));

const hasDates = (own: Saying, other: Saying): boolean =>
  own.dates.every((one) => other.dates.some((two) => includesDate(two, one) || includesDate(one, two)));

function isOpposite(own: Saying, other: Saying): boolean {
  if (own.isNegated !== other.isNegated || own.isReversed !== other.isReversed) return true;
  return own.direction !== undefined && other.direction !== undefined && own.direction !== other.direction;
}

function sharesWords({ words }: Saying, other: Saying, share: number): boolean {
  let left = (1 - share) * words.size;
  for (const key of words.keys()) {
    if (!other.keys.has(key)) left -= 1;
    if (left < 0) return false;
  }
  return true;
}

/** Whether a word has the place of another one, between the same two words or figures. */
function hasReplacement(own: Saying, other: Saying): boolean {
  const replaced = ownParts(own, other);
  const instead = replaced.length === 0 ? [] : ownParts(other, own);
  return replaced.some((one) => {
    const there = instead.filter(({ place }) => place === one.place);
    return there.length > 0 && !there.some((two) => hasSameStem(one.word, two.word));
  });
}

/** Words that the other has not, with the nearest parts around them that it has. */
function ownParts({ parts }: Saying, other: Saying): { word: Word; place: string }[] {
  const keys = new Set(other.parts.map(({ key }) => key));
  const isShared = ({ key }: Part): boolean => keys.has(key);
  return parts.flatMap((part, at) => {
    if (part.word === undefined || isShared(part) || other.keys.has(part.word.key)) return [];
    const before = parts.slice(0, at).findLast(isShared)?.key ?? "";
    const after = parts.slice(at + 1).find(isShared)?.key ?? "";
    return [{ word: part.word, place: `${before} ${after}` }];
  });
}

const MIN_STEM = 4;

const hasSameStem = (one: Word, two: Word): boolean =>
  one.key.length >= MIN_STEM && one.key.slice(0, MIN_STEM) === two.key.slice(0, MIN_STEM);

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

/** A unit may be written in a way that is not read, but not an amount of money or a share. */
const isSameAmount = (one: Amount, two: Amount): boolean =>
  one.isNegative === two.isNegative &&
  isUnchanged(one, two) &&
  (one.unit === two.unit ||
    ([one.unit, two.unit].includes("") && !/^[A-Z]{3}$|^percent$|^points$/.test(one.unit + two.unit)));
