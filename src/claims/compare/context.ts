/** Resolves pronouns and shortened noun phrases of a sentence from the text before it. */

import { isContent, type Token } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { matches } from "./alignment.ts";
import { isTimeWord, LEGAL_FORMS } from "../language/passing-words.ts";

export interface SentenceContext {
  /** The sentences of the page, the title first, and the blocks they are in. */
  tokens: readonly (readonly Token[])[];
  blocks: readonly number[];
  at: number;
  language: Language;
}

/** The claim's words that a part of the sentence must contain; the others are given by the context. */
export interface Reading {
  content: Token[];
  sentence: readonly Token[];
}

/** In English only: those of German and French may mean any noun of their gender. */
const PRONOUNS = new Set("it he she they".split(" "));
const ARTICLES = new Set("the this these der die das dem den des le la les l ce cette".split(" "));
const OWNERS = new Set("its his her their".split(" "));
const KINDS = new Set(
  "company firm group maker manufacturer bank club association foundation museum city town team party university society société entreprise groupe banque ville musée fondation unternehmen konzern firma bank stadt gemeinde verein verband".split(
    " ",
  ),
);
/** A name after one of these is a place or an owner, not what the next sentence is about. */
const PLACE_PREPOSITIONS = new Set("in at near of bei im am de du des à en dans".split(" "));

const MAX_SUBJECT_WORDS = 5;

const isCapitalised = ({ kind, text }: Token): boolean => kind === "word" && /^\p{Lu}/u.test(text);

/** All readings of a sentence in which the context supplies words of the claim. */
export function readingsInContext(
  content: readonly Token[],
  claim: readonly Token[],
  context: SentenceContext,
): Reading[] {
  const sentence = context.tokens[context.at] ?? [];
  return [...withSubject(content, sentence, context), ...withoutModifier(content, claim, context)];
}

/** A pronoun or `the company` at the beginning of the sentence, or of a clause in it, for the claim's subject. */
function withSubject(content: readonly Token[], sentence: readonly Token[], context: SentenceContext): Reading[] {
  const readings: Reading[] = [];
  for (const [slot, token] of sentence.entries()) {
    const isPronoun = token.kind === "stop" && PRONOUNS.has(token.key);
    const next = sentence[slot + 1];
    const isKind = ARTICLES.has(token.key) && next !== undefined && KINDS.has(next.text.toLowerCase());
    const start = isPronoun || isKind ? clauseStart(sentence, slot, context.language) : undefined;
    if (start === undefined || (isKind && start > 0)) continue;
    const rest = [...sentence.slice(start, slot), ...sentence.slice(isPronoun ? slot + 1 : slot + 2)];
    // `In 2019 the station produced …`: the subject follows the date.
    const first = content[0]?.kind === "date" ? 1 : 0;
    for (let end = first + 1; end <= Math.min(first + MAX_SUBJECT_WORDS, content.length - 1); end += 1) {
      const subject = content.slice(first, end);
      if (!isSubject(subject, { sentence, start, context, pronoun: isPronoun ? token.key : undefined })) continue;
      readings.push({ content: [...content.slice(0, first), ...content.slice(end)], sentence: rest });
    }
  }
  return readings;
}

/** Where the clause begins whose subject is at the slot; a phrase may precede it: `In 1972 she founded …`. */
function clauseStart(sentence: readonly Token[], slot: number, language: Language): number | undefined {
  const { conjunctions, prepositions } = WORD_LISTS[language];
  if (slot === 0) return 0;
  const [earlier, before] = [sentence[slot - 2], sentence[slot - 1]];
  if (before?.kind === "break" && /^[;:]$/.test(before.text)) return slot;
  if (earlier?.kind === "break" && conjunctions.has(before?.key ?? "")) return slot;
  const lead = sentence.slice(0, slot);
  const isPhrase =
    (prepositions.has(lead[0]?.key ?? "") || lead[0]?.text === "Unlike") &&
    lead.filter(isContent).length <= MAX_LEAD_WORDS &&
    lead.slice(0, -1).every(({ kind }) => kind !== "break");
  return isPhrase ? 0 : undefined;
}

const MAX_LEAD_WORDS = 4;

interface Slot {
  sentence: readonly Token[];
  /** Where the clause of the slot begins. */
  start: number;
  context: SentenceContext;
  pronoun: string | undefined;
}

/** Farther back than this a pronoun or noun means nothing certain; and the time stays linear. */
const MAX_SENTENCES_BACK = 20;

const PLURAL = new Set(["they"]);

/** Whether the words are what the text before the slot is about, and nothing else can be meant. */
function isSubject(subject: readonly Token[], { sentence, start, context, pronoun }: Slot, role?: "owner"): boolean {
  const last = subject.at(-1);
  if (last === undefined || subject.some(({ kind }) => kind !== "word")) return false;
  if (role === undefined && last.isPossessive) return false;
  if (role === undefined && pronoun !== undefined && PLURAL.has(pronoun) !== last.text.endsWith("s")) return false;
  if (start > 0) return isSubjectOf(subject, sentence.slice(0, start), { pronoun, context });
  const oldest = Math.max(1, context.at - MAX_SENTENCES_BACK);
  for (let at = context.at - 1; at >= oldest && context.blocks[at] === context.blocks[context.at]; at -= 1) {
    const earlier = context.tokens[at] ?? [];
    const [first] = earlier;
    if (first?.kind === "stop" && PRONOUNS.has(first.key)) {
      if (hasRival(earlier, subject, context.language)) return false;
      continue;
    }
    return isSubjectOf(subject, earlier, { pronoun, context });
  }
  return isTopic(subject, context);
}

/** At the beginning of the sentence, with at most a title or kind before it; for `the company` anywhere in it. */
function isSubjectOf(
  subject: readonly Token[],
  sentence: readonly Token[],
  { pronoun, context }: Pick<Slot, "pronoun" | "context">,
): boolean {
  const content = sentence.filter(isContent);
  const [head] = subject;
  const from = content.findIndex((token) => head !== undefined && matches(head, token));
  if (from === -1 || !subject.every((token, index) => isAt(token, content[from + index]))) return false;
  const after = content[from + subject.length];
  const lastOf = content[from + subject.length - 1];
  const isCut = after !== undefined && lastOf !== undefined && isCapitalised(after) && follows(sentence, lastOf, after);
  if (isCut || lastOf?.isPossessive === true) return false;
  const lead = content.slice(0, from);
  const isFirst = lead.length <= 3 && lead.every((token) => token.kind === "word");
  const before = sentence.slice(
    0,
    sentence.findIndex((token) => token === content[from]),
  );
  const isPlain = before.every(
    ({ kind, key }, at) => kind === "word" || (kind === "stop" && at === 0 && !PLACE_PREPOSITIONS.has(key)),
  );
  if (pronoun !== undefined && !(isFirst && isPlain)) return false;
  if (pronoun === undefined && !subject.every(isCapitalised)) return false;
  const rest = pronoun === undefined || lastOf === undefined ? sentence : sentence.slice(sentence.indexOf(lastOf) + 1);
  return !hasRival(rest, subject, context.language);
}

const isAt = (token: Token, other: Token | undefined): boolean => other !== undefined && matches(token, other);

const follows = (sentence: readonly Token[], one: Token, other: Token): boolean =>
  sentence.indexOf(other) === sentence.indexOf(one) + 1;

/** Another name that a pronoun could mean; `on the river Ostra` is a place, `on Tamsin` may be one of two things. */
function hasRival(sentence: readonly Token[], subject: readonly Token[], language: Language): boolean {
  const own = new Set(subject.map(({ key }) => key));
  return sentence.some((token, at) => {
    if (!token.isName || own.has(token.key) || LEGAL_FORMS.has(token.text) || isTimeWord(token, language)) return false;
    let before = at - 1;
    while (before >= 0 && (sentence[before]?.kind === "word" || ARTICLES.has(sentence[before]?.key ?? ""))) before -= 1;
    const preposition = sentence[before]?.key ?? "";
    const hasKind = sentence.slice(before + 1, at).some(({ kind, isName }) => kind === "word" && !isName);
    return !(PLACE_PREPOSITIONS.has(preposition) || (preposition === "on" && hasKind));
  });
}

/** The page's title names these words and no other name, and neither does the text of the block so far. */
function isTopic(words: readonly Token[], { tokens, blocks, at, language }: SentenceContext): boolean {
  const title = tokens[0] ?? [];
  const known = new Set(words.map(({ key }) => key));
  if (!words.every((word) => title.some((token) => matches(word, token)))) return false;
  const isOtherName = (token: Token, index: number): boolean =>
    isCapitalised(token) && index > 0 && !known.has(token.key) && !LEGAL_FORMS.has(token.text);
  if (words.some(isCapitalised) && !isOneName(title)) return false;
  const earlier = tokens
    .slice(Math.max(1, at - MAX_SENTENCES_BACK), at)
    .filter((_sentence, index) => blocks[Math.max(1, at - MAX_SENTENCES_BACK) + index] === blocks[at]);
  return !earlier.some((sentence) => sentence.some(isOtherName) && hasRival(sentence, words, language));
}

/** Whether all capitalised words of a title are adjacent. */
function isOneName(title: readonly Token[]): boolean {
  const content = title.filter(isContent);
  const capitalised = content.flatMap((token, index) => (isCapitalised(token) ? [index] : []));
  const [first = 0] = capitalised;
  return capitalised.every((index, order) => index === first + order);
}

const OF = new Set("of in at for von der des de du d".split(" "));

/** `Costs of tram line 12 have risen` where the page says `Costs have risen` after mentioning tram line 12. */
function withoutModifier(content: readonly Token[], claim: readonly Token[], context: SentenceContext): Reading[] {
  const sentence = context.tokens[context.at] ?? [];
  const isMissing = content.map((token) => !sentence.some((other) => isContent(other) && matches(token, other)));
  const from = isMissing.indexOf(true);
  const to = isMissing.lastIndexOf(true) + 1;
  const missing = content.slice(from, to);
  if (from === -1 || to - from > MAX_SUBJECT_WORDS || to - from === content.length) return [];
  const isRun = isMissing.slice(from, to).every(Boolean) && missing.some(({ kind }) => kind === "word");
  if (!isRun) return [];
  const isGiven = nounsBeside(content, [from, to], claim).some((noun) => isGivenFor(noun, missing, context));
  return isGiven ? [{ content: content.filter((token) => !missing.includes(token)), sentence }] : [];
}

interface Noun {
  token: Token;
  /** `costs of tram line 12` or `Norda's costs`; otherwise the words are a name beside it. */
  isOwned: boolean;
}

/** The words that a run of the claim's words may belong to. */
function nounsBeside(
  content: readonly Token[],
  [from, to]: readonly [number, number],
  claim: readonly Token[],
): Noun[] {
  const [before, first, last, after] = [content[from - 1], content[from], content[to - 1], content[to]];
  if (first === undefined || last === undefined) return [];
  const nouns: Noun[] = [];
  const [start, end] = [claim.indexOf(first), claim.indexOf(last)];
  if (before !== undefined) {
    const between = claim.slice(claim.indexOf(before) + 1, start);
    if (between.some(({ key }) => OF.has(key))) nouns.push({ token: before, isOwned: true });
    else if (between.length === 0 && isCapitalised(first)) nouns.push({ token: before, isOwned: false });
  }
  if (after !== undefined && (last.isPossessive || claim.indexOf(after) === end + 1)) {
    nouns.push({ token: after, isOwned: last.isPossessive });
  }
  return nouns.filter(({ token }) => token.kind === "word");
}

function isGivenFor({ token: noun, isOwned }: Noun, words: readonly Token[], context: SentenceContext): boolean {
  const sentence = context.tokens[context.at] ?? [];
  const index = sentence.findIndex((token) => matches(noun, token));
  const article = sentence[index - 1]?.key ?? "";
  if (OWNERS.has(article)) return isOwned && isSubject(words, { sentence, start: 0, context, pronoun: "it" }, "owner");
  if (ARTICLES.has(article)) return isLastMention(noun, words, context);
  return isOwned && isInitial(sentence, index) && isTopicOrPrevious(words, context);
}

/** Whether only a date precedes the noun. */
const isInitial = (sentence: readonly Token[], at: number): boolean =>
  sentence.slice(0, at).every((token) => !isContent(token) || token.kind === "date");

/** Whether the last sentence that had the noun had the words with it, too, and no other name beside it. */
function isLastMention(noun: Token, words: readonly Token[], { tokens, at }: SentenceContext): boolean {
  const recent = Array.from({ length: Math.min(at, MAX_SENTENCES_BACK) }, (_unused, back) => at - 1 - back);
  for (const index of recent.includes(0) ? recent : [...recent, 0]) {
    const sentence = tokens[index] ?? [];
    const found = sentence.findIndex((token) => matches(noun, token));
    if (found === -1) continue;
    const near = sentence.slice(Math.max(0, found - MAX_SUBJECT_WORDS), found + MAX_SUBJECT_WORDS + 2);
    if (words.every((word) => near.some((token) => matches(word, token)))) return true;
    const beside = [sentence[found - 1], sentence[found + 1]];
    if (beside.some((token) => token?.kind === "word") || OF.has(sentence[found + 1]?.key ?? "")) return false;
  }
  return false;
}

function isTopicOrPrevious(words: readonly Token[], context: SentenceContext): boolean {
  if (isTopic(words, context)) return true;
  const { tokens, blocks, at } = context;
  const previous = tokens[at - 1] ?? [];
  if (at < 2 || blocks[at - 1] !== blocks[at] || hasRival(previous, words, context.language)) return false;
  const leading = previous.filter(isContent).slice(0, 2 * MAX_SUBJECT_WORDS);
  return words.every((word) => leading.some((token) => matches(word, token)));
}
