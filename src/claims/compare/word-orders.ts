/** Orders of a claim's words that say the same, such as `X's Y` and `Y of X`. */

import { isDirection } from "../language/stems.ts";
import { isContent, type Token } from "../language/tokens.ts";
import type { Language } from "../language/word-lists.ts";
import { matches } from "./alignment.ts";

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
    if (token.kind === "word" && followsOf(claim, token))
      orders = extended(orders, (order) => genitives(order, token, -1));
    // `Norda increased revenue` and `Norda's revenue increased`.
    if (next !== undefined && isDirection(token.key) !== isDirection(next.key)) {
      orders = extended(orders, (order) => [swapped(order, token, next)]);
    }
    // `mill prices` and `prices at the mill`.
    if (next !== undefined && isCompound([token, next], claim) && isReversed([token, next], sentence)) {
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

/** `In the previous year it had …` and `It had … in the previous year`: one phrase may stand elsewhere. */
function movedAdjuncts(content: readonly Token[], claim: readonly Token[], language: Language): Token[][] {
  const moved: Token[][] = [];
  for (const [at, { kind, key }] of claim.entries()) {
    if (kind !== "stop" || !ADJUNCTS[language].has(key)) continue;
    let end = at + 1;
    while (isOfPhrase(claim[end])) end += 1;
    const whole = claim.slice(at, end).filter((token) => isContent(token) && content.includes(token));
    for (const phrase of whole[0]?.kind === "date" ? [whole.slice(0, 1), whole] : [whole]) {
      if (!isAdjunct(phrase) || phrase.length === content.length) continue;
      const rest = content.filter((token) => !phrase.includes(token));
      moved.push([...rest, ...phrase], [...phrase, ...rest]);
    }
  }
  return moved.slice(0, MAX_MOVED);
}

const isOfPhrase = (token: Token | undefined): boolean =>
  token !== undefined && (isContent(token) || PHRASE_STOPS.has(token.key));

const MAX_MOVED = 8;
const PHRASE_STOPS = new Set("the a an der die das dem den le la les l".split(" "));

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

const isCompound = ([one, other]: readonly [Token, Token], claim: readonly Token[]): boolean =>
  one.kind === "word" && other.kind === "word" && claim.indexOf(other) === claim.indexOf(one) + 1;

const NOUN_PREPOSITIONS = new Set("of at in for".split(" "));

/** The second word, then a preposition, then the first. */
export function isReversed([one, other]: readonly [Token, Token], sentence: readonly Token[]): boolean {
  return sentence.some((token, at) => {
    if (!matches(other, token) || !NOUN_PREPOSITIONS.has(sentence[at + 1]?.key ?? "")) return false;
    const after = sentence.slice(at + 2, at + 4).find(isContent);
    return after !== undefined && matches(one, after);
  });
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
    sentence.slice(0, place).some((candidate) => matches(token, candidate));
  const to = rest.findIndex((token, index) => (token.kind === "number" ? !isNumberBefore(token) : index === at));
  return to === -1 ? [...rest, date] : rest.toSpliced(to, 0, date);
}
