/** Claims with one changed figure, date or name, made of claims that their page says; always the same ones. */

import { figuresIn } from "../../src/claims/figures.ts";
import { wordsOf } from "../../src/claims/words.ts";
import type { LabelledClaim } from "./collections.ts";

export interface ChangedClaim extends LabelledClaim {
  about: "figure" | "date" | "name";
  /** What the claim said before, which the page says, too. */
  original: string;
}

const SEED = 28;

/** A generator of numbers from 0 to 1 (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Spot {
  about: ChangedClaim["about"];
  start: number;
  text: string;
}

/** One change for each claim that has a figure, date or name of its page, in turn of a figure, a date and a name. */
export function changedClaims(claims: readonly LabelledClaim[], count: number): ChangedClaim[] {
  const random = randomNumbers(SEED);
  const names = [...new Set(claims.flatMap(({ claim }) => namesIn(claim).map(({ text }) => text)))];
  const shuffled = claims
    .map((claim) => ({ claim, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ claim }) => claim);
  const changed: ChangedClaim[] = [];
  const kinds = ["figure", "date", "name"] as const;
  for (const claim of shuffled) {
    if (changed.length === count) break;
    const page = claim.page.blocks.join("\n");
    const spots = [...figuresAndDates(claim.claim), ...namesIn(claim.claim)].filter(({ text }) => page.includes(text));
    const wanted = [0, 1, 2].map((step) => kinds[(changed.length + step) % kinds.length]);
    const about = wanted.find((kind) => spots.some((spot) => spot.about === kind));
    const possible = spots.filter((spot) => spot.about === about);
    const spot = possible[Math.floor(random() * possible.length)];
    if (spot === undefined) continue;
    const other = spot.about === "name" ? otherName(names, page, random) : otherNumber(spot.text, random);
    if (other === undefined || page.includes(other)) continue;
    changed.push({
      ...claim,
      id: `${claim.id}-changed`,
      claim: claim.claim.slice(0, spot.start) + other + claim.claim.slice(spot.start + spot.text.length),
      label: "not said",
      about: spot.about,
      original: spot.text,
    });
  }
  return changed;
}

export function figuresAndDates(claim: string): Spot[] {
  const { quantities, dates, text } = figuresIn(claim);
  if (text !== claim) return [];
  const digitsIn = ({ start, end }: { start: number; end: number }, about: Spot["about"]): Spot[] =>
    [...text.slice(start, end).matchAll(about === "date" ? /\d{4}/g : /\d+(?:[.,]\d+)*/g)].map(
      ({ index, 0: digits }) => ({ about, start: start + index, text: digits }),
    );
  return [
    ...quantities.flatMap((quantity) => digitsIn(quantity, "figure")),
    ...dates.flatMap((date) => digitsIn(date, "date")),
  ];
}

export const namesIn = (claim: string): Spot[] =>
  wordsOf(claim)
    .filter(({ isCapitalised, isContent, start, text }) => isCapitalised && isContent && start > 0 && text.length > 3)
    .filter(({ start }) => /[\p{Ll},] $/u.test(claim.slice(0, start)))
    .map(({ start, text }) => ({ about: "name", start, text }));

export function otherName(names: readonly string[], page: string, random: () => number): string | undefined {
  const others = names.filter((name) => !page.toLowerCase().includes(name.toLowerCase()));
  return others[Math.floor(random() * others.length)];
}

/** Another first or last digit; a year stays near. */
export function otherNumber(digits: string, random: () => number): string {
  const step = 1 + Math.floor(random() * 8);
  if (/^\d{4}$/.test(digits)) return String(Number(digits) - step);
  const at = random() < 0.5 ? 0 : digits.length - 1;
  const digit = (Number(digits[at]) + step) % 10;
  return `${digits.slice(0, at)}${at === 0 && digit === 0 ? 1 : digit}${digits.slice(at + 1)}`;
}

const MIN_SHARED = 0.5;

/** Whether the sentence with what was changed has half of the claim's words; otherwise several sentences say it, or none. */
export function isSaidInOneSentence({ claim, original, page }: ChangedClaim): boolean {
  const own = wordsOf(claim).filter(({ isContent }) => isContent);
  return page.blocks.flatMap(sentencesOf).some((sentence) => {
    const keys = new Set(wordsOf(sentence).map(({ key }) => key));
    return sentence.includes(original) && own.filter(({ key }) => keys.has(key)).length >= MIN_SHARED * own.length;
  });
}

const sentencesOf = (block: string): string[] =>
  [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(block)].map(({ segment }) => segment.trim());

/** Sentences of the pages as claims, one for each page: what a report says in the words of its source. */
export function pageSentences(claims: readonly LabelledClaim[]): LabelledClaim[] {
  const pages = new Map(claims.map((claim) => [claim.page.blocks.join("\n"), claim]));
  return [...pages.values()].flatMap((claim) => {
    const first = claim.page.blocks
      .flatMap(sentencesOf)
      // A changed mark of a citation changes nothing that is said.
      .find((text) => /^\p{Lu}[^\n|[\]]{60,250}\.$/u.test(text) && (/\d/.test(text) || namesIn(text).length > 0));
    return first === undefined ? [] : { ...claim, id: `${claim.id}-sentence`, claim: first, label: "said" as const };
  });
}
