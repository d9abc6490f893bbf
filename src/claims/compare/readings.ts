/** The ways in which a sentence of the page may state a claim: as it is, active for passive, with words of its context. */

import { isContent, type Token } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { keysIn, type Reading } from "./aligned.ts";
import { matches } from "./alignment.ts";
import { readingsInContext } from "./context.ts";
import { withoutDifference, withoutFrontedOf } from "./derived.ts";
import { activeForm, withoutAgent } from "./voice.ts";
import { wordOrders } from "./word-orders.ts";

interface Page {
  tokens: readonly (readonly Token[])[];
  blocks: readonly number[];
  language: Language;
}

/** A sentence with less of the claim is not tried. */
const MIN_SHARED = 0.4;

/** A longer clause is found only word by word: the time of its readings grows with the third power of its length. */
const MAX_CLAUSE_WORDS = 40;
/** Maximum readings per sentence; real sentences have dozens. */
const MAX_READINGS = 200;

export function readingsOf(clause: readonly Token[], at: number, page: Page): Reading[] {
  const sentence = page.tokens[at] ?? [];
  const words = clause.filter(isContent);
  const shared = words.filter((word) => sentence.some((token) => matches(word, token))).length;
  if (shared === 0 || shared < MIN_SHARED * words.length) return [];
  if (words.length > MAX_CLAUSE_WORDS) return [{ claim: clause, content: words, sentence }];
  const voices = voicesOf(clause, sentence, page.language);
  const inContext = readingsInContext(words, clause, { ...page, at }).flatMap((reading) => [
    { ...reading, claim: clause },
    ...voicesOf(
      clause.filter((token) => !isContent(token) || reading.content.includes(token)),
      reading.sentence,
      page.language,
    ).slice(1),
  ]);
  const readings = [...voices, ...inContext];
  return [...readings, ...readings.flatMap((reading) => withoutDifference(reading) ?? [])]
    .filter(hasAllWords)
    .flatMap((reading) =>
      wordOrders(reading.content, { ...reading, language: page.language }).map((content) => ({ ...reading, content })),
    )
    .slice(0, MAX_READINGS);
}

const hasAllWords = ({ content, sentence }: Reading): boolean =>
  content.every((word) => sentence.some((token) => matches(word, token)));

/** The unchanged sentence comes first. */
function voicesOf(claim: readonly Token[], sentence: readonly Token[], language: Language): Reading[] {
  const reading = (ours: readonly Token[], theirs: readonly Token[]): Reading => ({
    claim: ours,
    content: ours.filter(isContent),
    sentence: theirs,
  });
  const readings = [reading(claim, sentence)];
  const ours = activeForm(claim, language);
  if (ours !== undefined) readings.push(reading(ours, sentence));
  const theirs = activeForm(sentence, language);
  if (theirs !== undefined) readings.push(reading(claim, theirs));
  const part = withoutFrontedOf(sentence);
  if (part !== undefined) readings.push(reading(claim, part));
  const patient = withoutAgent(claim, language);
  const [verb] = patient ?? [];
  if (patient === undefined || verb === undefined) return readings;
  const starts = sentence.flatMap((token, at) => (at > 0 && matches(verb, token) ? [at] : []));
  const active = starts.filter((at) => hasPlainSubject(sentence.slice(0, at), language));
  return [...readings, ...active.map((at) => reading(patient, sentence.slice(at)))];
}

const MAX_AGENT_WORDS = 5;

/** Whether all that precedes a verb is its subject. */
function hasPlainSubject(lead: readonly Token[], language: Language): boolean {
  const { prepositions, negations, possible, planned, unreal } = WORD_LISTS[language];
  const content = lead.filter(isContent);
  if ([negations, possible, planned, unreal].some((list) => keysIn(lead, list).length > 0)) return false;
  return (
    content.length > 0 &&
    content.length <= MAX_AGENT_WORDS &&
    content.every(({ kind }) => kind === "word") &&
    lead.every(
      ({ kind, key }) =>
        kind === "word" || (kind === "stop" && (PLAIN.has(key) || (prepositions.has(key) && key !== "to"))),
    )
  );
}

const PLAIN = new Set("the a an of has have had der die das hat haben le la les l a ont".split(" "));
