/** Conditions that an alignment of a claim with a sentence must meet before it counts as support. */

import { isContent, type Token } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { japaneseObjection } from "./japanese.ts";
import { isTimeWord } from "./passing-words.ts";

export interface Aligned {
  /** All tokens of the claim, and those that were aligned. */
  claim: readonly Token[];
  content: readonly Token[];
  sentence: readonly Token[];
  /** Positions in the sentence of `content`. */
  matched: readonly number[];
  language: Language;
}

/** A reason against the alignment; `weak` if the page only says it less firmly. */
export type Objection = { kind: "weak" | "no"; reason: string };

const no = (reason: string): Objection => ({ kind: "no", reason });

const GATES: readonly ((aligned: Aligned) => Objection | undefined)[] = [
  polarity,
  beginning,
  ending,
  quotation,
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

const isBreak = (token: Token | undefined): boolean => token?.kind === "break";

/** The part of the sentence that the claim repeats, from the beginning of its clause to the end of it. */
function regionOf({ sentence, matched, language }: Aligned): { from: number; to: number } {
  const { conjunctions } = WORD_LISTS[language];
  const isEnd = (token: Token | undefined): boolean => isBreak(token) || conjunctions.has(token?.key ?? "");
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

const keysIn = (tokens: readonly Token[], list: ReadonlySet<string>): string[] =>
  tokens.map(({ text }) => text.toLowerCase()).filter((word) => list.has(word));

function polarity(aligned: Aligned): Objection | undefined {
  if (aligned.language === "ja") return undefined;
  const { negations } = WORD_LISTS[aligned.language];
  const claimed = keysIn(aligned.claim, negations).length;
  const stated = keysIn(regionTokens(aligned), negations).length;
  return claimed > 0 === stated > 0 && claimed % 2 === stated % 2
    ? undefined
    : no("The page's sentence and the claim differ in a negation.");
}

/** Titles and kinds before a name: `The pump maker Norda`. */
const MAX_TITLE_WORDS = 3;

function beginning(aligned: Aligned): Objection | undefined {
  const { sentence, matched, language } = aligned;
  const [first = 0] = matched;
  const lists = WORD_LISTS[language];
  const lead = sentence.slice(0, first);
  if (!lead.some(isContent)) {
    return keysIn(lead, lists.unreal).length > 0 ? no("The page does not state this as a fact.") : undefined;
  }
  if (keysIn(lead, lists.unreal).length > 0) return no("The page does not state this as a fact.");
  const clause = lead.slice(lead.findLastIndex((token) => isBreak(token) || lists.conjunctions.has(token.key)) + 1);
  const attached = clause.filter((token) => isContent(token) && token.kind !== "date" && !isTimeWord(token, language));
  if (attached.length === 0 || isAntecedent(sentence, first, lists)) return undefined;
  const isTitle =
    sentence[first]?.isName === true &&
    attached.length <= MAX_TITLE_WORDS &&
    attached.every((token) => token.kind === "word" && (!token.isName || token === attached[0])) &&
    clause.every(({ key }) => !lists.prepositions.has(key)) &&
    keysIn(attached, lists.scope).length + keysIn(attached, lists.planned).length === 0;
  return isTitle ? undefined : no("The page says it of something else.");
}

/** `They replace the Skarnfjord, which has …`: what follows is said of the word before the comma. */
function isAntecedent(
  sentence: readonly Token[],
  at: number,
  { relatives, prepositions }: { relatives: ReadonlySet<string>; prepositions: ReadonlySet<string> },
): boolean {
  const [comma, relative] = sentence.slice(at + 1, at + 3);
  if (comma?.text !== "," || relative === undefined || !relatives.has(relative.key)) return false;
  let before = at - 1;
  while (sentence[before]?.kind === "stop" && !prepositions.has(sentence[before]?.key ?? "")) before -= 1;
  return sentence[before]?.kind !== "stop";
}

function ending(aligned: Aligned): Objection | undefined {
  const { sentence, matched, language } = aligned;
  const lists = WORD_LISTS[language];
  const last = matched.at(-1) ?? 0;
  const next = sentence[last + 1];
  if (next !== undefined && isContent(next) && next.kind !== "date" && !isTimeWord(next, language)) {
    return no("The page says it of something else.");
  }
  const trail = sentence.slice(last + 1);
  if (keysIn(trail, lists.unreal).length > 0) return no("The page adds a condition or a doubt.");
  const end = trail.findIndex((token) => isBreak(token) || lists.conjunctions.has(token.key));
  const clause = trail.slice(0, end === -1 ? trail.length : end);
  return keysIn(clause, lists.scope).length > 0 ? no("The page limits what it says.") : undefined;
}

const QUOTES = /^["“”„«»「」『』]$/u;

/** A quotation is the word of the person quoted, not of the page. */
function quotation({ claim, sentence, matched }: Aligned): Objection | undefined {
  if (claim.some(({ text }) => QUOTES.test(text))) return undefined;
  const quotesBefore = sentence.slice(0, matched[0] ?? 0).filter(({ text }) => QUOTES.test(text)).length;
  const quotesIn = sentence.slice(matched[0] ?? 0, matched.at(-1) ?? 0).filter(({ text }) => QUOTES.test(text)).length;
  return quotesBefore % 2 === 1 && quotesIn === 0 ? no("The page only quotes it.") : undefined;
}

/** Prepositions of one meaning; the first of each is its name. */
const RELATIONS = [
  "by um",
  "to into onto auf à aux au",
  "from ab",
  "of von vom de du des d",
  "in on at within during im am bei beim en dans sur",
  "since seit depuis",
  "until till bis jusque jusqu",
  "before vor avant",
  "after nach après",
  "against gegen contre versus vs",
  "for für pour",
  "with mit avec",
  "without ohne sans",
  "over above über",
  "under below unter sous",
  "between zwischen entre",
  "than",
  "per pro",
].map((line) => line.split(" "));
const RELATION_OF = new Map(RELATIONS.flatMap((words) => words.map((word) => [word, words[0] ?? ""])));

/** Amounts and attributes are written with and without these. */
const OPTIONAL = new Set(["", "of", "by"]);

/** Each word must be related to the others by the same preposition: from and to, by and of. */
function relations({ claim, content, sentence, matched }: Aligned): Objection | undefined {
  for (const [index, token] of content.entries()) {
    const at = matched[index] ?? 0;
    const page = sentence[at];
    const ours = relationBefore(claim, claim.indexOf(token));
    const theirs = relationBefore(sentence, at);
    if (ours === theirs) continue;
    const isAmount = token.kind === "number";
    if (isAmount && OPTIONAL.has(ours) && OPTIONAL.has(theirs)) continue;
    // `X's Y` and `Y of X`.
    if ((token.isPossessive && theirs === "of") || (page?.isPossessive === true && ours === "of")) continue;
    if (index === 0 && theirs === "") continue;
    // After a word that the claim leaves out, the preposition belongs to that word.
    return no("The page relates the words in another way.");
  }
  return undefined;
}

/** The preposition between a token and the content word before it. */
function relationBefore(tokens: readonly Token[], at: number): string {
  for (let index = at - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined || isContent(token) || isBreak(token)) return "";
    const relation = RELATION_OF.get(token.key);
    if (relation !== undefined) return relation;
  }
  return "";
}

const PRESENT = new Set("is are has have ist sind hat haben est sont a ont".split(" "));
const PAST = new Set("was were had war waren hatte hatten était étaient avait avaient".split(" "));

/** What was so may no longer be so. */
function tense(aligned: Aligned): Objection | undefined {
  const claimed = keysIn(aligned.claim, PRESENT).length > 0 && keysIn(aligned.claim, PAST).length === 0;
  const region = regionTokens(aligned);
  const isPast = keysIn(region, PAST).length > 0 && keysIn(region, PRESENT).length === 0;
  return claimed && isPast ? no("The page speaks of the past.") : undefined;
}

function certainty(aligned: Aligned): Objection | undefined {
  const { possible, planned } = WORD_LISTS[aligned.language];
  const region = regionTokens(aligned);
  const extra = (list: ReadonlySet<string>): string[] => {
    const claimed = new Set(keysIn(aligned.claim, list));
    return keysIn(region, list).filter((word) => !claimed.has(word));
  };
  if (extra(planned).length > 0) return no("The page speaks of a plan or an expectation.");
  if (extra(possible).length > 0 && keysIn(aligned.claim, PAST).length > 0)
    return no("The page speaks of a possibility.");
  if (extra(possible).length > 0) return { kind: "weak", reason: "The page is less certain than the claim." };
  const stated = new Set(keysIn(region, possible));
  return keysIn(aligned.claim, possible).some((word) => !stated.has(word))
    ? { kind: "weak", reason: "The page says it more firmly than the claim." }
    : undefined;
}

function japanese({ claim, content, sentence, matched, language }: Aligned): Objection | undefined {
  const reason = language === "ja" ? japaneseObjection({ claim, content, sentence, matched }) : undefined;
  return reason === undefined ? undefined : no(reason);
}
