/** Orders of a claim's words that say the same, such as `X's Y` and `Y of X`. */

import { isDirection } from "../language/stems.ts";
import { isContent, type Token } from "../language/tokens.ts";

/** A noun phrase has up to this many words. */
const MAX_PHRASE_WORDS = 3;
const MAX_ORDERS = 40;

export function wordOrders(
  content: readonly Token[],
  { claim, sentence }: { claim: readonly Token[]; sentence: readonly Token[] },
): Token[][] {
  let orders: Token[][] = [[...content]];
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
