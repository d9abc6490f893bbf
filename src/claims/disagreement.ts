/** Why a quotation cannot support a claim: figures, units, dates, direction or polarity differ. */

import { type Figures, figuresIn, includesDate } from "./figures/figures.ts";
import { sameAmount } from "./figures/quantities.ts";
import { directionOf, isNegated, languageOf } from "./language.ts";
import { wordsIn } from "./words.ts";
import { sentencesIn } from "./split/drafts.ts";

const MAX_CHARACTERS = 5_000;

/** Undefined if nothing speaks against it; that alone is no support. The reason quotes neither text. */
export function disagreement(claim: string, quote: string): string | undefined {
  if (quote === claim) return undefined;
  const [ours, theirs] = [figuresIn(claim.slice(0, MAX_CHARACTERS)), figuresIn(quote.slice(0, MAX_CHARACTERS))];
  return figures(ours, theirs) ?? dates(ours, theirs) ?? wording(ours.text, theirs.text);
}

function figures(claim: Figures, quote: Figures): string | undefined {
  // `about 500` in the quotation is no other figure than 500.
  const stated = quote.quantities.map((quantity) => ({ ...quantity, approximation: undefined }));
  for (const claimed of claim.quantities) {
    if (stated.some((quantity) => sameAmount(claimed, quantity))) continue;
    return stated.some(({ value }) => value === claimed.value)
      ? "A figure has another unit in the quotation than in the claim."
      : "A figure of the claim is not in the quotation.";
  }
  return undefined;
}

/** A quotation without a date may come from a page that states it elsewhere. */
function dates(claim: Figures, quote: Figures): string | undefined {
  if (quote.dates.length === 0) return undefined;
  const isMissing = claim.dates.some((date) => !quote.dates.some((other) => includesDate(other, date)));
  return isMissing ? "The quotation has another date than the claim." : undefined;
}

/** Compares the claim with the sentence of the quotation that shares most words with it. */
function wording(claim: string, quote: string): string | undefined {
  const language = languageOf(claim);
  if (language === undefined || languageOf(quote) !== language) return undefined;
  const words = new Set(wordsIn(claim));
  const [best] = sentencesIn(quote)
    .map(({ start, end }) => quote.slice(start, end))
    .map((sentence) => ({ sentence, shared: wordsIn(sentence).filter((word) => words.has(word)).length }))
    .toSorted((a, b) => b.shared - a.shared);
  if (best === undefined) return undefined;
  if (isNegated(claim, language) !== isNegated(best.sentence, language)) {
    return "The quotation and the claim differ in a negation.";
  }
  const [claimed, stated] = [directionOf(claim), directionOf(best.sentence)];
  const isOpposite = claimed !== undefined && stated !== undefined && claimed !== stated;
  return isOpposite ? "The quotation reports the opposite direction." : undefined;
}
