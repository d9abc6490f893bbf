/** Why a quotation cannot support a claim: figures, units, dates, direction or polarity differ. */

import { matches } from "./compare/alignment.ts";
import { includesDate } from "./language/dates.ts";
import { languageOf } from "./language/detect.ts";
import { negationsIn } from "./language/negations.ts";
import { isDirection } from "./language/stems.ts";
import { isContent, type Token, tokensOf } from "./language/tokens.ts";
import type { Language } from "./language/word-lists.ts";
import { sentencesIn } from "./split/sentences.ts";

const MAX_CHARACTERS = 5_000;

/** Undefined if nothing speaks against it; that alone is no support. The reason quotes neither text. */
export function disagreement(claim: string, quote: string): string | undefined {
  if (quote === claim) return undefined;
  const ours = read(claim);
  const theirs = read(quote);
  return (
    figures(ours.tokens, theirs.tokens) ??
    dates(ours.tokens, theirs.tokens) ??
    (ours.language !== undefined && ours.language === theirs.language
      ? wording(claim, quote, ours.language)
      : undefined)
  );
}

interface Text {
  language: Language | undefined;
  tokens: Token[];
}

function read(whole: string): Text {
  const text = whole.slice(0, MAX_CHARACTERS);
  const language = languageOf(text);
  return { language, tokens: tokensOf(text, language ?? "en") };
}

const numbersOf = (tokens: readonly Token[]): Token[] => tokens.filter(({ kind }) => kind === "number");

const withoutApproximation = ({ quantity }: Token): Token["quantity"] =>
  quantity === undefined ? undefined : { ...quantity, approximation: undefined };

function figures(claim: readonly Token[], quote: readonly Token[]): string | undefined {
  // `about 500` in the quotation is no other figure than 500.
  const stated = numbersOf(quote).map((token) => ({ ...token, quantity: withoutApproximation(token) }));
  for (const number of numbersOf(claim)) {
    if (stated.some((other) => matches(number, other))) continue;
    const isSameValue = stated.some(({ quantity }) => quantity?.value === number.quantity?.value);
    return isSameValue
      ? "A figure has another unit in the quotation than in the claim."
      : "A figure of the claim is not in the quotation.";
  }
  return undefined;
}

/** A quotation without a date may come from a page that states it elsewhere. */
function dates(claim: readonly Token[], quote: readonly Token[]): string | undefined {
  const stated = quote.flatMap(({ date }) => date ?? []);
  if (stated.length === 0) return undefined;
  const isMissing = claim.some(({ date }) => date !== undefined && !stated.some((other) => includesDate(other, date)));
  return isMissing ? "The quotation has another date than the claim." : undefined;
}

/** Compares the claim with the sentence of the quotation that shares most words with it. */
function wording(claim: string, quote: string, language: Language): string | undefined {
  const ours = tokensOf(claim.slice(0, MAX_CHARACTERS), language);
  const text = quote.slice(0, MAX_CHARACTERS);
  const keys = new Set(ours.filter(isContent).map(({ key }) => key));
  const ranked = sentencesIn(text)
    .map(({ start, end }) => {
      const sentence = text.slice(start, end);
      const tokens = tokensOf(sentence, language);
      return { sentence, tokens, shared: tokens.filter(({ key }) => keys.has(key)).length };
    })
    .toSorted((a, b) => b.shared - a.shared);
  const [best] = ranked;
  if (best === undefined) return undefined;
  if (negationsIn(claim, ours, language) > 0 !== negationsIn(best.sentence, best.tokens, language) > 0) {
    return "The quotation and the claim differ in a negation.";
  }
  const directions = (tokens: readonly Token[]): Set<string> =>
    new Set(tokens.map(({ key }) => key).filter((key) => isDirection(key)));
  const [claimed, stated] = [directions(ours), directions(best.tokens)];
  const isOpposite = claimed.size === 1 && stated.size === 1 && ![...claimed].some((key) => stated.has(key));
  return isOpposite ? "The quotation reports the opposite direction." : undefined;
}
