/** Conditions that an alignment of a claim with a sentence must meet before it counts as support. */

import { isContent, type Token } from "../language/tokens.ts";
import { WORD_LISTS } from "../language/word-lists.ts";
import { type Aligned, isBreak, keysIn, no, type Objection } from "./aligned.ts";
import { beginning, ending } from "./clause-edges.ts";
import { japaneseObjection } from "./japanese.ts";
import { relations } from "./relations.ts";
import { hasOtherVoice } from "./voice.ts";

const GATES: readonly ((aligned: Aligned) => Objection | undefined)[] = [
  polarity,
  beginning,
  ending,
  quotation,
  joints,
  voice,
  relations,
  tense,
  certainty,
  japanese,
];

export function objectionTo(aligned: Aligned): Objection | undefined {
  for (const gate of GATES) {
    const objection = gate(aligned);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

/** What follows one of these is another event. */
const SUBORDINATORS = new Set("after before because when nachdem bevor weil après avant".split(" "));

/** The part of the sentence that the claim repeats, from the beginning of its clause to the end of it. */
function regionOf({ sentence, matched, page: { language } }: Aligned): { from: number; to: number } {
  const { conjunctions } = WORD_LISTS[language];
  const isEnd = (token: Token | undefined): boolean =>
    isBreak(token) || conjunctions.has(token?.key ?? "") || SUBORDINATORS.has(token?.key ?? "");
  const [first = 0] = matched;
  let from = first;
  while (from > 0 && !isBreak(sentence[from - 1])) from -= 1;
  let to = matched.at(-1) ?? first;
  while (to + 1 < sentence.length && !isEnd(sentence[to + 1])) to += 1;
  return { from, to };
}

/** Words of the region; a parenthesis that the claim leaves out says nothing about it. */
function regionTokens(aligned: Aligned): Token[] {
  const { from, to } = regionOf(aligned);
  const kept: Token[] = [];
  let next = 0;
  for (let at = from; at <= to; at += 1) {
    while ((aligned.matched[next] ?? Infinity) < at) next += 1;
    const previous = aligned.matched[next - 1];
    const token = aligned.sentence[at];
    const end = aligned.matched[next];
    if (isBreak(token) && previous !== undefined && end !== undefined && isBreak(aligned.sentence[end - 1])) {
      at = end - 1;
      continue;
    }
    if (token !== undefined) kept.push(token);
  }
  return kept;
}

function polarity(aligned: Aligned): Objection | undefined {
  if (aligned.page.language === "ja") return undefined;
  const { negations } = WORD_LISTS[aligned.page.language];
  const claimed = keysIn(aligned.claim, negations).length;
  const stated = keysIn(regionTokens(aligned), negations).length;
  return claimed > 0 === stated > 0 && claimed % 2 === stated % 2
    ? undefined
    : no("The page's sentence and the claim differ in a negation.");
}

/** `Sales rose, and in Bell they fell` does not say that sales rose in Bell. */
function joints({ claim, content, sentence, matched, page }: Aligned): Objection | undefined {
  const { conjunctions } = WORD_LISTS[page.language];
  const isJoint = ({ kind, key, text }: Token): boolean => text === ";" || (kind === "stop" && conjunctions.has(key));
  const isTorn = content.some((token, index) => {
    const before = content[index - 1];
    const between = sentence.slice((matched[index - 1] ?? 0) + 1, matched[index]);
    if (before === undefined || between.some(isContent) || !between.some(isJoint)) return false;
    const ours = claim.slice(claim.indexOf(before) + 1, claim.indexOf(token));
    return !ours.some((other) => isJoint(other) || isBreak(other));
  });
  return isTorn ? no("The page says it in two clauses.") : undefined;
}

function voice(aligned: Aligned): Objection | undefined {
  return hasOtherVoice(aligned, aligned.page.language) ? no("The page states it with the roles reversed.") : undefined;
}

const QUOTES = /^["“”„«»「」『』]$/u;

/** A quotation is a statement of the person quoted, not of the page. */
function quotation({ claim, sentence, matched }: Aligned): Objection | undefined {
  if (claim.some(({ text }) => QUOTES.test(text))) return undefined;
  const quotesBefore = sentence.slice(0, matched[0] ?? 0).filter(({ text }) => QUOTES.test(text)).length;
  const quotesIn = sentence.slice(matched[0] ?? 0, matched.at(-1) ?? 0).filter(({ text }) => QUOTES.test(text)).length;
  return quotesBefore % 2 === 1 && quotesIn === 0 ? no("The page only quotes it.") : undefined;
}

const PRESENT = new Set("is are has have ist sind hat haben est sont a ont".split(" "));
const PAST = new Set("was were had war waren hatte hatten était étaient avait avaient".split(" "));

/** A past state may no longer hold. */
function tense(aligned: Aligned): Objection | undefined {
  const claimed = keysIn(aligned.claim, PRESENT).length > 0 && keysIn(aligned.claim, PAST).length === 0;
  const region = regionTokens(aligned);
  const isPast = keysIn(region, PAST).length > 0 && keysIn(region, PRESENT).length === 0;
  return claimed && isPast ? no("The page refers to the past.") : undefined;
}

function certainty(aligned: Aligned): Objection | undefined {
  const { possible, planned } = WORD_LISTS[aligned.page.language];
  const region = regionTokens(aligned);
  const shared = new Set(aligned.matched.map((at) => aligned.sentence[at]));
  const extra = (list: ReadonlySet<string>): string[] => {
    const claimed = new Set(keysIn(aligned.claim, list));
    return keysIn(
      region.filter((token) => !shared.has(token)),
      list,
    ).filter((word) => !claimed.has(word));
  };
  if (extra(planned).length > 0) return no("The page refers to a plan or an expectation.");
  if (extra(possible).length > 0 && keysIn(aligned.claim, PAST).length > 0)
    return no("The page refers to a possibility.");
  if (extra(possible).length > 0) return { kind: "weak", reason: "The page is less certain than the claim." };
  const stated = new Set(keysIn(region, possible));
  return keysIn(aligned.claim, possible).some((word) => !stated.has(word))
    ? { kind: "weak", reason: "The page says it more firmly than the claim." }
    : undefined;
}

function japanese({ claim, content, sentence, matched, page: { language } }: Aligned): Objection | undefined {
  const reason = language === "ja" ? japaneseObjection({ claim, content, sentence, matched }) : undefined;
  return reason === undefined ? undefined : no(reason);
}
