/** Orders of a claim's words that say the same, such as `X's Y` and `Y of X`. */

import { isDirection } from "../language/stems.ts";
import { isContent, type Token } from "../language/tokens.ts";
import type { Language } from "../language/word-lists.ts";

/** A noun phrase has up to this many words. */
const MAX_PHRASE_WORDS = 3;
const MAX_ORDERS = 40;

export function wordOrders(
  content: readonly Token[],
  { claim, sentence, language }: { claim: readonly Token[]; sentence: readonly Token[]; language: Language },
): Token[][] {
  let orders: Token[][] = [[...content], ...movedAdjuncts(content, claim, language)];
  for (const [at, token] of content.entries()) {
    const next = content[at + 1];
    if (token.isPossessive) orders = extended(orders, (order) => genitives(order, token, 1));
    if (followsOf(claim, token)) orders = extended(orders, (order) => genitives(order, token, -1));
    // `Norda increased revenue` and `Norda's revenue increased`.
    if (next !== undefined && isDirection(token.key) !== isDirection(next.key)) {
      orders = extended(orders, (order) => [swapped(order, token, next)]);
    }
  }
  return orders.map((order) => withDateInPlace(order, sentence));
}

/** Prepositions of time and place, whose phrases stand at the beginning or at the end of a sentence. */
const ADJUNCTS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set("in on at during within".split(" ")),
  de: new Set("in im am an bei während".split(" ")),
  fr: new Set("en dans pendant durant".split(" ")),
  ja: new Set(),
};

/** `In the previous year it had …` and `It had … in the previous year`. */
function movedAdjuncts(content: readonly Token[], claim: readonly Token[], language: Language): Token[][] {
  const adjuncts = ADJUNCTS[language];
  const moved: Token[][] = [];
  const comma = claim.findIndex(({ text }) => text === ",");
  if (adjuncts.has(claim[0]?.key ?? "") && comma > 0) {
    const front = claim.slice(0, comma).filter(isContent);
    if (isAdjunct(front)) moved.push([...content.slice(front.length), ...front]);
  }
  const last = claim.findLastIndex(({ kind, key }) => kind === "stop" && adjuncts.has(key));
  const back = last === -1 ? [] : claim.slice(last).filter(isContent);
  if (isAdjunct(back)) moved.push([...back, ...content.slice(0, -back.length)]);
  return moved;
}

const isAdjunct = (phrase: readonly Token[]): boolean =>
  phrase.length > 0 && phrase.length <= MAX_PHRASE_WORDS && phrase.every(({ kind }) => kind !== "number");

const extended = (orders: Token[][], variants: (order: Token[]) => Token[][]): Token[][] =>
  [...orders, ...orders.flatMap(variants)].slice(0, MAX_ORDERS);

function followsOf(claim: readonly Token[], token: Token): boolean {
  const at = claim.indexOf(token);
  for (let index = at - 1; index >= 0; index -= 1) {
    const before = claim[index];
    if (before === undefined || isContent(before)) return false;
    if (before.key === "of") return true;
  }
  return false;
}

function genitives(order: readonly Token[], token: Token, direction: 1 | -1): Token[][] {
  const from = order.indexOf(token);
  const without = order.filter((other) => other !== token);
  return Array.from({ length: MAX_PHRASE_WORDS }, (_unused, index) => from + direction * (index + 1))
    .filter((to) => to >= 0 && to <= without.length)
    .map((to) => without.toSpliced(to, 0, token));
}

function swapped(order: readonly Token[], one: Token, other: Token): Token[] {
  return order.map((token) => (token === one ? other : token === other ? one : token));
}

/** The only date of a claim may stand elsewhere in a sentence that has only one. */
function withDateInPlace(order: Token[], sentence: readonly Token[]): Token[] {
  const dates = order.filter(({ kind }) => kind === "date");
  const places = sentence.flatMap(({ kind }, at) => (kind === "date" ? [at] : []));
  const [date] = dates;
  const [place] = places;
  if (date === undefined || place === undefined || dates.length !== 1 || places.length !== 1) return order;
  const rest = order.filter((token) => token !== date);
  const before = new Set(
    sentence
      .slice(0, place)
      .filter(isContent)
      .map(({ key }) => key),
  );
  // Before the first word that occurs only after the date.
  const at = rest.findIndex(({ key, kind }) => kind === "word" && !before.has(key));
  const isNumberBefore = (token: Token): boolean =>
    sentence
      .slice(0, place)
      .some((candidate) => candidate.quantity !== undefined && candidate.quantity.value === token.quantity?.value);
  const to = rest.findIndex((token, index) => (token.kind === "number" ? !isNumberBefore(token) : index === at));
  return to === -1 ? [...rest, date] : rest.toSpliced(to, 0, date);
}
