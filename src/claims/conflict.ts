/**
 * Where a page contradicts a claim: a sentence about the same thing has another figure, date or name in the place of one
 * of the claim's, or the opposite direction, or a negation. A false alarm is worse than silence, so whatever is ambiguous
 * is no conflict.
 */

import { type DateMention, figuresIn, includesDate, isWithin, type Quantity } from "./figures.ts";
import { areOpposites, hasOtherDirection, hasOtherNegation, isGerman, isNegation } from "./language.ts";
import { type PageIndex, rarity, readable } from "./page-index.ts";
import { sentencesIn } from "./split/drafts.ts";
import { isSpaceless, type Word, wordsOf } from "./words.ts";

export interface Conflict {
  about: "figure" | "date" | "name" | "direction" | "negation";
  /** What the sentence says in the place of what the claim says. */
  says: string;
  passage: string;
}

/** Further sentences have less in common with the claim. */
const MAX_SENTENCES = 6;
const MAX_SENTENCE_CHARACTERS = 1_200;

export function conflictWith(claim: string, page: PageIndex, nearest: readonly number[]): Conflict | undefined {
  const own = readStatement(claim, page.names);
  for (const at of nearest.slice(0, MAX_SENTENCES)) {
    const passage = page.sentences[at] ?? "";
    // A longer one is a list.
    if (passage.length > MAX_SENTENCE_CHARACTERS) continue;
    const other = readStatement(passage, page.names);
    const missing = missingParts(own, other, page);
    const found =
      missing.length === 0 ? negationConflict(own, other, page) : replacement({ own, other, missing }, page, at);
    if (found === "none") return undefined;
    if (found !== undefined) return { ...found, passage };
  }
  return undefined;
}

type Found = Omit<Conflict, "passage">;

type Ranged = Pick<Quantity, "start" | "end">;

interface Statement {
  text: string;
  words: Word[];
  /** Of the page and the claims that cite it (`PageIndex`). */
  names: ReadonlySet<string>;
  quantities: Amount[];
  dates: DateMention[];
}

/** Directly before a figure, or after it. */
const LIMITS = {
  min: /(?<!\p{L})(?:(?<!(?:no|not|nicht) )(?:more|greater|higher|mehr|plus) (?:than|als|de|d')|(?:no|not) (?:less|fewer) than|over|above|exceeding|at least|über|mindestens|au moins)\s*[$€£¥]?$|[>≥]\s*[$€£¥]?$|^\p{Script=Han}?以上/iu,
  max: /(?<!\p{L})(?:(?:no|not) more than|nicht mehr als|(?<!(?:no|not|nicht) )(?:less|fewer|lower|weniger|moins) (?:than|als|de|d')|under|below|at most|up to|unter|höchstens|bis zu|jusqu'à)\s*[$€£¥]?$|[<≤]\s*[$€£¥]?$|^\p{Script=Han}?(?:以下|未満)/iu,
} as const;
const ESTIMATE =
  /(?<!\p{L})(?:about|around|approximately|roughly|some|nearly|almost|close to|rund|etwa|circa|ca\.?|knapp|fast|environ|près de)\s*[$€£¥]?$|[約~≈]\s*[$€£¥]?$|およそ$/iu;

export interface Amount extends Quantity {
  limit: keyof typeof LIMITS | undefined;
  isEstimate: boolean;
  /** Half of the unit of its last digit; more if the text says `about`. */
  tolerance: number;
  /** `by 5 percent` is no other figure than `to 95 percent`. */
  isChange: boolean;
  /** The word that follows. */
  counted: string | undefined;
}

export function readStatement(written: string, names: ReadonlySet<string> = new Set()): Statement {
  const { text, quantities, dates } = figuresIn(readable(written));
  const words = wordsOf(text);
  return {
    text,
    words,
    names,
    dates,
    quantities: quantities.map((quantity) => {
      const before = text.slice(Math.max(0, quantity.start - MAX_CHARACTERS_BEFORE), quantity.start);
      const after = text.slice(quantity.end, quantity.end + MAX_CHARACTERS_BEFORE);
      const isEstimate = ESTIMATE.test(before);
      return {
        ...quantity,
        isEstimate,
        tolerance: Math.max(quantity.precision / 2, isEstimate ? roundingOf(quantity) : 0),
        limit: (["min", "max"] as const).find((limit) => LIMITS[limit].test(before) || LIMITS[limit].test(after)),
        isChange: /(?<!\p{L})(?:by|um|(?:augment|progress|baiss|recul)\p{L}+ de)\s$/iu.test(before),
        counted: words.find(({ start }) => start >= quantity.end)?.key,
      };
    }),
  };
}

/** Of the value: `about 10 days` are not 14. */
const MAX_ROUNDING = 0.05;

/** As much as its trailing zeros leave open: 20 for `about 400`. */
function roundingOf({ value, precision }: Quantity): number {
  const zeros = /0*$/.exec(String(Math.round(value / precision)))?.[0].length ?? 0;
  return Math.min((precision * 10 ** zeros) / 2, MAX_ROUNDING * Math.abs(value));
}

/** Whether the sentence has every figure and date of the claim, with their units. */
export function hasFigures(claim: string, sentence: string): boolean {
  const [own, other] = [readStatement(claim), readStatement(sentence)];
  const units = new Set(other.quantities.map(({ unit }) => unit));
  const hasUnits = own.quantities.every(({ unit }) => unit === "" || units.has(unit));
  return hasUnits && missingFigures(own, other, agrees).length + missingDates(own, other).length === 0;
}

const missingFigures = (own: Statement, other: Statement, isSame: (one: Amount, two: Amount) => boolean): Amount[] =>
  own.quantities.filter((one) => !other.quantities.some((two) => isSame(one, two)));

/** The page may be more precise than the claim. */
const missingDates = (own: Statement, other: Statement): DateMention[] =>
  own.dates.filter((one) => !other.dates.some((two) => includesDate(two, one)));

const MAX_CHARACTERS_BEFORE = 16;

/** Why a quotation cannot support a claim; undefined if nothing speaks against it, which alone is no support. */
export function disagreement(claim: string, quote: string): string | undefined {
  if (quote === claim) return undefined;
  const [own, other] = [readStatement(claim), readStatement(quote)];
  if (missingFigures(own, other, isSame).length > 0) {
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

// A negation, in nearly the same words.

/** Of the weight of the claim's words. */
const MIN_SHARED_NEGATED = 0.75;
const MAX_GAP_WORDS = 4;

/** "none" if the sentence says what the claim says. */
function negationConflict(own: Statement, other: Statement, page: PageIndex): Found | "none" | undefined {
  const isNegated = (words: readonly Word[]): boolean => words.some(({ text }) => isNegation(text));
  const pairs = alignment(own.words, other.words);
  const [says, ...others] = pairs.slice(1).flatMap(([at, otherAt], index) => {
    const [last = 0, otherLast = 0] = pairs[index] ?? [];
    const gaps = [own.words.slice(last + 1, at), other.words.slice(otherLast + 1, otherAt)] as const;
    const isPlain = gaps.flat().every(({ text, isContent }) => !isContent && text !== "only");
    const isOther = isPlain && gaps[0].length <= MAX_GAP_WORDS && isNegated(gaps[0]) !== isNegated(gaps[1]);
    return isOther ? [textOf(other.words.slice(otherLast, otherAt + 1), other)] : [];
  });
  const { share, count } = sharedPart(own.words, other, page);
  if (says === undefined) return share === 1 ? "none" : undefined;
  return others.length === 0 && count > 1 && share >= MIN_SHARED_NEGATED ? { about: "negation", says } : undefined;
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

// Figures, dates, names and directions in the place of others.

interface Part {
  about: Exclude<Conflict["about"], "negation">;
  words: readonly Word[];
  /** What a sentence may say instead. */
  replacements: (other: Statement) => Ranged[];
}

/** Of the weight of the claim's other words, in the sentence or the page's title, by how many content words around agree. */
const MIN_SHARED = [0.5, 0.4, 0.2] as const;
const MIN_SHARED_OPPOSITE = 0.6;
const MIN_SHARED_WORDS = 3;
const MIN_AGREEING_OWN = 3;

function replacement(
  { own, other, missing }: { own: Statement; other: Statement; missing: readonly Part[] },
  page: PageIndex,
  at: number,
): Found | "none" | undefined {
  const absent = missing.filter(({ about, words }) =>
    words.some(({ key }) => (about === "name" || /^\d/.test(key)) && !page.words.has(key)),
  );
  const [part, ...others] = absent.length > 0 ? absent : missing;
  if (part === undefined || others.length > 0) return undefined;
  const ranked = part
    .replacements(other)
    .map((range) => {
      const words = wordsWithin(other.words, range);
      const isOwn = words.every(({ key }) => own.words.some((word) => word.key === key));
      return { range, isOwn, agreeing: agreeingAround(part.words, words, [own, other]) };
    })
    // What the claim says elsewhere is in this place only if all around it is the same.
    .filter(({ isOwn, agreeing }) => !isOwn || agreeing >= MIN_AGREEING_OWN)
    .toSorted((one, two) => two.agreeing - one.agreeing);
  const [best, next] = ranked;
  if (best === undefined || best.agreeing === next?.agreeing) return undefined;
  // A word like others, unless what surrounds it is the same.
  const isPlain = part.about === "name" || part.about === "direction" || isSpaceless(own.text);
  if (isPlain && best.agreeing === 0) return undefined;
  const rest = own.words.filter((word) => !part.words.includes(word));
  const title = wordsOf(page.sentences[0] ?? "");
  const { share, count } = sharedPart(rest, { words: [...other.words, ...title] }, page);
  if (count < MIN_SHARED_WORDS && share < 1) return undefined;
  if (share < (part.about === "direction" ? MIN_SHARED_OPPOSITE : (MIN_SHARED[best.agreeing] ?? MIN_SHARED[2]))) {
    return undefined;
  }
  if (absent.length === 0 && isSaidElsewhere(part.words, rest, { page, at })) return "none";
  return { about: part.about, says: textWithin(best.range, other) };
}

/** Content words that are the same on both sides of two stretches, without a gap. */
function agreeingAround(one: readonly Word[], two: readonly Word[], [own, other]: [Statement, Statement]): number {
  const walk = (from: Word | undefined, to: Word | undefined, step: 1 | -1): number => {
    let agreeing = 0;
    let [a, b] = [from === undefined ? -1 : own.words.indexOf(from), to === undefined ? -1 : other.words.indexOf(to)];
    for (;;) {
      [a, b] = [a + step, b + step];
      const word = own.words[a];
      if (word === undefined || word.key !== other.words[b]?.key) return agreeing;
      if (word.isContent) agreeing += 1;
    }
  };
  return walk(one[0], two[0], -1) + walk(one.at(-1), two.at(-1), 1);
}

function missingParts(own: Statement, other: Statement, { isReport }: PageIndex): Part[] {
  const ownKeys = new Set(own.words.map(({ key }) => key));
  const keys = new Set(other.words.map(({ key }) => key));
  return [
    ...missingFigures(own, other, isReport ? isUnchanged : mayAgree).map((figure): Part => ({
      about: "figure",
      words: wordsWithin(own.words, figure),
      replacements: () => other.quantities.filter((each) => isComparable(figure, each) && countsSame(figure, each)),
    })),
    ...missingDates(own, other).map((date): Part => ({
      about: "date",
      words: wordsWithin(own.words, date),
      replacements: () => other.dates.filter((each) => isSameKind(date, each)),
    })),
    ...own.words.flatMap((word): Part[] => {
      const opposites = keys.has(word.key) ? [] : other.words.filter(({ text }) => areOpposites(word.text, text));
      return opposites.length === 0 ? [] : [{ about: "direction", words: [word], replacements: () => opposites }];
    }),
    ...namesIn(own, ({ key }) => !keys.has(key)).map((name): Part => ({
      about: "name",
      words: name,
      replacements: () =>
        [
          ...namesIn(other, ({ key }) => !ownKeys.has(key)),
          ...namesIn(other, ({ key }) => ownKeys.has(key))
            .flat()
            .map((word) => [word]),
        ]
          .filter((each) => !isAlias(name, each))
          .map((each) => ({ start: each[0]?.start ?? 0, end: each.at(-1)?.end ?? 0 })),
    })),
  ];
}

const hasSameUnit = (one: Amount, two: Amount): boolean => one.unit === two.unit || one.unit === "" || two.unit === "";

/** "More than 400" is not a description of 5,000. */
const MAX_BEYOND = 0.25;

const isBeyond = (one: Amount, two: Amount): boolean =>
  one.limit === "min" ? two.value >= one.value : two.value <= one.value;

/** Whether the page's figure is the claim's, or the claim's is rounded or a limit. */
function agrees(one: Amount, two: Amount): boolean {
  if (!hasSameUnit(one, two)) return false;
  if (one.limit !== undefined && two.limit === undefined) {
    return isBeyond(one, two) && Math.abs(one.value - two.value) <= MAX_BEYOND * Math.abs(two.value);
  }
  const isOpposite = one.limit !== undefined && one.limit !== two.limit;
  return !isOpposite && isWithin(one.tolerance, one, two);
}

/** A claim without "about" may still have rounded the figure, and so may the page: neither is a conflict. */
const mayAgree = (one: Amount, two: Amount): boolean =>
  agrees({ ...one, tolerance: Math.max(one.tolerance, roundingOf(one), two.tolerance) }, two);

/** Of two reports neither is the source of the other: the more precise figure decides, unless one is an estimate. */
export function isUnchanged(one: Amount, two: Amount): boolean {
  const decide = one.isEstimate || two.isEstimate ? Math.max : Math.min;
  return agrees({ ...one, tolerance: decide(one.tolerance, two.tolerance) }, two);
}

/** A quotation has the claim's figure itself. */
const isSame = (one: Amount, two: Amount): boolean =>
  one.unit === two.unit && isWithin(0, one, two) && agrees(one, two);

/** Of the same unit, or the same figure in another unit. */
const isComparable = (one: Amount, two: Amount): boolean =>
  one.isChange === two.isChange &&
  one.isEstimate === two.isEstimate &&
  (one.limit === two.limit || (two.limit === undefined && !isBeyond(one, two))) &&
  (two.unit === one.unit || two.value === one.value);

const isSameKind = (one: DateMention | undefined, two: DateMention): boolean =>
  (["year", "month", "day", "quarter"] as const).every(
    (part) => (one?.[part] === undefined) === (two[part] === undefined),
  );

const textWithin = ({ start, end }: Ranged, { text }: Statement): string => text.slice(start, end).trim();

const wordsWithin = (words: readonly Word[], { start, end }: Ranged): Word[] =>
  words.filter((word) => word.start >= start && word.end <= end);

const besidesFigures = (words: readonly Word[], { quantities, dates }: Statement): Word[] =>
  words.filter((word) => ![...quantities, ...dates].some((each) => word.start >= each.start && word.end <= each.end));

const textOf = (words: readonly Word[], { text }: Statement): string => text.slice(words[0]?.start, words.at(-1)?.end);

const isProper = ({ isCapitalised, isContent }: Word): boolean => isCapitalised && isContent;

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

/** Plain numbers are compared if the same word follows: `412 homes` and `512 homes`. */
const countsSame = (one: Amount, two: Amount): boolean => one.unit !== "" || one.counted === two.counted;

/** Stretches of capitalised words. */
function namesIn(statement: Statement, isWanted: (word: Word) => boolean): Word[][] {
  const { words, text, names: known } = statement;
  // Every noun has a capital there.
  if (isGerman(text)) return [];
  const [first, second, ...others] = besidesFigures(words, statement);
  // Of a first name and a surname, the surname is compared: elsewhere a title may stand before it.
  const isName = first !== undefined && known.has(first.key) && second?.isCapitalised !== true;
  const plain = new Set([isName ? first : undefined, second, ...others]);
  const names: Word[][] = [];
  let last: Word | undefined;
  for (const word of words) {
    const isPart = plain.has(word) && isProper(word) && word.text.length > 2 && isWanted(word);
    if (isPart && last !== undefined) names.at(-1)?.push(word);
    else if (isPart) names.push([word]);
    last = isPart ? word : undefined;
  }
  return names;
}

// Subject.

function sharedPart(words: readonly Word[], { words: other }: Pick<Statement, "words">, page: PageIndex) {
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
