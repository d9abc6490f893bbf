/**
 * Where a page contradicts a claim: a sentence about the same thing, in nearly the same words, with another figure, date,
 * name or direction, or with a negation. A false alarm is worse than silence, so whatever is ambiguous is no conflict.
 */

import { type DateMention, figuresIn, includesDate, type Quantity } from "./figures.ts";
import { areOpposites, hasOtherDirection, hasOtherNegation, isNegation } from "./language.ts";
import { type PageIndex, rarity, readable } from "./page-index.ts";
import { sentencesIn } from "./split/drafts.ts";
import { type Word, wordsOf } from "./words.ts";

export interface Conflict {
  about: "figure" | "date" | "name" | "direction" | "negation";
  /** What the sentence says in the place of what the claim says. */
  says: string;
  passage: string;
}

/** Further sentences have less in common with the claim. */
const MAX_SENTENCES = 6;
const MAX_SENTENCE_CHARACTERS = 1_200;
/** Of the weight of the claim's words besides the one that differs. A name is a word like others, so it needs more. */
const MIN_SHARED = { figure: 0.45, date: 0.5, name: 0.6, direction: 0.6, negation: 0.75 } as const;
const MIN_SHARED_WORDS = 3;

export function conflictWith(claim: string, page: PageIndex, nearest: readonly number[]): Conflict | undefined {
  const own = readStatement(claim);
  for (const at of nearest.slice(0, MAX_SENTENCES)) {
    const sentence = page.sentences[at] ?? "";
    if (sentence.length > MAX_SENTENCE_CHARACTERS || /\?["'”’»)]?$/u.test(sentence)) continue;
    const other = readStatement(sentence);
    const difference = differenceOf(own, other);
    if (difference === undefined) {
      // The page says it, in this sentence at least.
      if (sharedPart(own.words, other, page).share === 1) return undefined;
      continue;
    }
    const { about, says, claimed } = difference;
    const rest = own.words.filter((word) => !claimed.includes(word));
    const { share, count } = sharedPart(rest, other, page);
    if (count < MIN_SHARED_WORDS && share < 1) continue;
    if (count < 2 || share < MIN_SHARED[about]) continue;
    if (about !== "negation" && isSaidElsewhere(claimed, rest, { page, at })) return undefined;
    return { about, says, passage: sentence };
  }
  return undefined;
}

type Ranged = Pick<Quantity, "start" | "end">;

interface Statement {
  text: string;
  words: Word[];
  quantities: Amount[];
  dates: DateMention[];
}

/** Words with which a figure is a limit or an estimate, directly before it. */
const INEXACT =
  /(?:about|around|approximately|roughly|some|nearly|almost|over|under|above|below|than|least|most|up to|exceeding|close to|rund|etwa|circa|ca\.?|knapp|fast|über|unter|mehr als|mindestens|höchstens|bis zu|environ|près de|plus de|moins de|au moins|jusqu'à|約|およそ|以上|未満)\s*[~≈$€£¥]?$|[~≈<>≥≤]\s?$/iu;

interface Amount extends Quantity {
  /** A limit or an estimate. */
  isInexact: boolean;
  /** `by 5 percent` is no other figure than `to 95 percent`. */
  isChange: boolean;
}

function readStatement(written: string): Statement {
  const { text, quantities, dates } = figuresIn(readable(written));
  return {
    text,
    words: wordsOf(text),
    dates,
    quantities: quantities.map((quantity) => {
      const before = text.slice(Math.max(0, quantity.start - MAX_WORDS_BEFORE), quantity.start);
      return {
        ...quantity,
        isInexact: INEXACT.test(before),
        isChange: /(?<!\p{L})(?:by|um)\s$/iu.test(before),
      };
    }),
  };
}

/** Whether the sentence has every figure and date of the claim, with their units. */
export function hasFigures(claim: string, sentence: string): boolean {
  const [own, other] = [readStatement(claim), readStatement(sentence)];
  const units = new Set(other.quantities.map(({ unit }) => unit));
  const hasUnits = own.quantities.every(({ unit }) => unit === "" || units.has(unit));
  return hasUnits && missingFigures(own, other).length + missingDates(own, other).length === 0;
}

const missingFigures = (own: Statement, other: Statement): Amount[] =>
  own.quantities.filter((one) => !other.quantities.some((two) => isCompatible(one, two)));

const missingDates = (own: Statement, other: Statement): DateMention[] =>
  own.dates.filter((one) => !other.dates.some((two) => includesDate(two, one) || includesDate(one, two)));

const EXACT = 1e-9;

/** Why a quotation cannot support a claim; undefined if nothing speaks against it, which alone is no support. */
export function disagreement(claim: string, quote: string): string | undefined {
  if (quote === claim) return undefined;
  const [own, other] = [readStatement(claim), readStatement(quote)];
  const isSame = (one: Amount, two: Amount): boolean =>
    one.unit === two.unit && Math.abs(one.value - two.value) <= EXACT * Math.abs(one.value);
  if (!own.quantities.every((one) => other.quantities.some((two) => isSame(one, two)))) {
    return "A figure of the claim is not in the quotation.";
  }
  // A quotation without a date may come from a page that states it elsewhere.
  if (other.dates.length > 0 && missingDates(own, other).length > 0) {
    return "The quotation has another date than the claim.";
  }
  const keys = new Set(own.words.map(({ key }) => key));
  const shared = (sentence: string): number => wordsOf(sentence).filter(({ key }) => keys.has(key)).length;
  const [nearest = ""] = sentencesIn(quote)
    .map(({ start, end }) => quote.slice(start, end))
    .toSorted((one, two) => shared(two) - shared(one));
  if (hasOtherNegation(claim, nearest)) return "The quotation and the claim differ in a negation.";
  return hasOtherDirection(claim, nearest) ? "The quotation reports the opposite direction." : undefined;
}

interface Difference {
  about: Conflict["about"];
  says: string;
  /** The words of the claim that differ. */
  claimed: readonly Word[];
}

function differenceOf(own: Statement, other: Statement): Difference | undefined {
  const gaps = gapsBetween(own.words, other.words);
  const figures = figureDifferences(own, other, gaps);
  if (figures === "several") return undefined;
  const words = gaps.map((gap) => ({
    ...gap,
    own: besidesFigures(gap.own, own),
    other: besidesFigures(gap.other, other),
  }));
  const found = [figures ?? [], words.flatMap((gap) => wordDifference(gap, own, other) ?? [])].flat();
  return found.length === 1 ? found[0] : undefined;
}

/** A stretch of both texts between words that they share. */
interface Gap {
  own: Word[];
  other: Word[];
  /** The shared words around it. */
  before: [own: Word, other: Word] | undefined;
  after: [own: Word, other: Word] | undefined;
}

function gapsBetween(own: readonly Word[], other: readonly Word[]): Gap[] {
  const pairs = alignment(own, other);
  const gaps: Gap[] = [];
  let [from, otherFrom] = [0, 0];
  let before: Gap["before"];
  for (const [at, otherAt] of [...pairs, [own.length, other.length] as const]) {
    const [word, otherWord] = [own[at], other[otherAt]];
    const after: Gap["after"] = word === undefined || otherWord === undefined ? undefined : [word, otherWord];
    if (at > from || otherAt > otherFrom) {
      gaps.push({ own: own.slice(from, at), other: other.slice(otherFrom, otherAt), before, after });
    }
    [from, otherFrom, before] = [at + 1, otherAt + 1, after];
  }
  return gaps;
}

/** The longest sequence of words that both have in the same order, as positions. */
export function alignment(own: readonly Word[], other: readonly Word[]): [number, number][] {
  const width = other.length + 1;
  const lengths = new Uint16Array((own.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = own.length - 1; row >= 0; row -= 1) {
    for (let column = other.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        own[row]?.key === other[column]?.key
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < own.length && column < other.length;) {
    if (own[row]?.key === other[column]?.key) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

// Figures and dates.

/** Several differences are no statement about the same thing. */
function figureDifferences(own: Statement, other: Statement, gaps: readonly Gap[]): Difference | "several" | undefined {
  const [quantities, dates] = [missingFigures(own, other), missingDates(own, other)];
  if (quantities.length + dates.length === 0) return undefined;
  if (quantities.length + dates.length > 1) return "several";
  const [quantity] = quantities;
  const [date] = dates;
  const claimed = quantity ?? date;
  if (claimed === undefined) return undefined;
  const comparable: readonly Ranged[] =
    quantity === undefined
      ? missingDates(other, own).filter((each) => isSameKind(date, each))
      : missingFigures(other, own).filter((each) => isComparable(quantity, each));
  const [place, ...others] = comparable.filter((each) => isAligned(claimed, each, gaps));
  if (place === undefined || others.length > 0) return "several";
  return {
    about: quantity === undefined ? "date" : "figure",
    says: other.text.slice(place.start, place.end).trim(),
    claimed: wordsWithin(own.words, claimed),
  };
}

const MAX_WORDS_BEFORE = 14;
const ROUNDING = 0.03;
const ESTIMATE = 0.25;

/** Equal, rounded, or not exact enough to differ. */
function isCompatible(one: Amount, two: Amount): boolean {
  if (one.unit !== two.unit && one.unit !== "" && two.unit !== "") return false;
  const isRound = [one, two].some(({ value }) => value >= 100 && Math.round(value) % 10 === 0);
  const tolerance = one.isInexact || two.isInexact ? ESTIMATE : isRound ? ROUNDING : EXACT;
  return Math.abs(one.value - two.value) <= tolerance * Math.max(Math.abs(one.value), Math.abs(two.value));
}

/** Of the same unit, or the same figure in another unit. */
const isComparable = (one: Amount, two: Amount): boolean =>
  one.isChange === two.isChange && (two.unit === one.unit || two.value === one.value);

const isSameKind = (one: DateMention | undefined, two: DateMention): boolean =>
  (["year", "month", "day", "quarter"] as const).every(
    (part) => (one?.[part] === undefined) === (two[part] === undefined),
  );

const wordsWithin = (words: readonly Word[], { start, end }: Ranged): Word[] =>
  words.filter((word) => word.start >= start && word.end <= end);

const isAligned = (one: Ranged, two: Ranged, gaps: readonly Gap[]): boolean =>
  gaps.some(
    ({ own, other }) =>
      own.some((word) => word.start >= one.start && word.end <= one.end) &&
      other.some((word) => word.start >= two.start && word.end <= two.end),
  );

// Words.

const besidesFigures = (words: readonly Word[], { quantities, dates }: Statement): Word[] =>
  words.filter((word) => ![...quantities, ...dates].some((each) => word.start >= each.start && word.end <= each.end));

const MAX_GAP_WORDS = 4;

function wordDifference(
  { own, other, before, after }: Gap,
  statement: Statement,
  page: Statement,
): Difference | undefined {
  if (own.length > MAX_GAP_WORDS || other.length > MAX_GAP_WORDS) return undefined;
  const isNegated = own.some(({ text }) => isNegation(text));
  if (isNegated !== other.some(({ text }) => isNegation(text))) {
    const isPlain = [...own, ...other].every(({ text, isContent }) => !isContent && text !== "only");
    if (before === undefined || after === undefined || !isPlain) return undefined;
    const says = page.text.slice(before[1].start, after[1].end);
    return { about: "negation", says, claimed: own };
  }
  const opposite = own.find(({ text }) => other.some((word) => areOpposites(text, word.text)));
  if (opposite !== undefined) return { about: "direction", says: textOf(other, page), claimed: own };
  if (!isName(own, statement) || !isName(other, page) || isAlias(own, other)) return undefined;
  if (own.some(({ key }) => page.words.some((word) => word.key === key))) return undefined;
  return { about: "name", says: textOf(other, page), claimed: own };
}

const textOf = (words: readonly Word[], { text }: Statement): string => text.slice(words[0]?.start, words.at(-1)?.end);

/** Only capitalised words, not all at the beginning of a sentence, where every word is. */
const isName = (words: readonly Word[], { words: [first] }: Statement): boolean =>
  words.length > 0 &&
  words.every(({ isCapitalised, isContent }) => isCapitalised && isContent) &&
  (words[0] !== first || words.length > 1);

/** `Barack Obama` and `Obama`, `UN` and `United Nations`, `Sourabh` and `Saurabh`. */
function isAlias(one: readonly Word[], other: readonly Word[]): boolean {
  const [own, stated] = [one, other].map((words) => words.map(({ text }) => text.toLowerCase()));
  const initials = (words: readonly string[] = []): string => words.map((word) => word[0] ?? "").join("");
  if (own?.length === 1 && initials(stated) === own[0]) return true;
  if (stated?.length === 1 && initials(own) === stated[0]) return true;
  return (own ?? []).some((word) =>
    (stated ?? []).some((each) => word.slice(0, 3) === each.slice(0, 3) || word.slice(-4) === each.slice(-4)),
  );
}

// Subject.

function sharedPart(words: readonly Word[], { words: other }: Statement, page: PageIndex) {
  const keys = new Set(other.map(({ key }) => key));
  let [all, shared, count] = [0, 0, 0];
  for (const { key, isContent } of words) {
    if (!isContent) continue;
    const weight = rarity(key, page);
    all += weight;
    if (!keys.has(key)) continue;
    shared += weight;
    count += 1;
  }
  return { share: all === 0 ? 0 : shared / all, count };
}

/** As much of the claim as another sentence with its words must have. */
const MIN_ELSEWHERE = 0.4;

/** Whether the page has what the claim says in another sentence about it. */
function isSaidElsewhere(
  claimed: readonly Word[],
  rest: readonly Word[],
  { page, at }: { page: PageIndex; at: number },
): boolean {
  const content = rest.filter(({ isContent }) => isContent);
  const places = new Set(claimed.flatMap(({ key }) => page.words.get(key) ?? []));
  return [...places].slice(0, 50).some((place) => {
    const sentence = page.sentences[place] ?? "";
    if (place === at || !claimed.every(({ key }) => page.words.get(key)?.includes(place))) return false;
    const keys = new Set(wordsOf(sentence).map(({ key }) => key));
    return content.filter(({ key }) => keys.has(key)).length >= MIN_ELSEWHERE * content.length;
  });
}
