/**
 * Finds the words of a claim in a sentence of its page, in their order. Words of the page between them are allowed only
 * where leaving them out does not change what is said.
 */

import { includesDate } from "../language/dates.ts";
import { isContent, type Token } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { isTimeWord, LEGAL_FORMS } from "./passing-words.ts";

export interface Alignment {
  /** For each token of the claim, the index of its match in the page's sentence. */
  matched: number[];
}

/** Sentences of pages without punctuation. */
const MAX_TOKENS = 250;

export function matches(claim: Token, page: Token): boolean {
  if (claim.kind !== page.kind) return false;
  if (claim.quantity !== undefined && page.quantity !== undefined) {
    const [a, b] = [claim.quantity, page.quantity];
    return a.unit === b.unit && Math.abs(a.value - b.value) <= Math.abs(a.value) * 1e-9;
  }
  if (claim.date !== undefined && page.date !== undefined) return includesDate(page.date, claim.date);
  return claim.key === page.key;
}

/** Content words of the claim, in order, to positions of the sentence. Undefined if there is no such alignment. */
export function align(
  claim: readonly Token[],
  sentence: readonly Token[],
  { language, shortNames }: { language: Language; shortNames: ReadonlySet<string> },
): Alignment | undefined {
  if (claim.length === 0 || sentence.length > MAX_TOKENS) return undefined;
  const positions = claim.map((token) =>
    sentence.flatMap((candidate, at) => (isContent(candidate) && matches(token, candidate) ? [at] : [])),
  );
  if (positions.some((found) => found.length === 0)) return undefined;
  const fits = createGapCheck(sentence, language, shortNames);
  // Backwards, so that each position knows whether the rest can follow.
  const next: Map<number, number>[] = [];
  for (let index = claim.length - 1; index >= 0; index -= 1) {
    const following = next[index + 1];
    const reachable = new Map<number, number>();
    for (const at of positions[index] ?? []) {
      if (following === undefined) reachable.set(at, -1);
      else {
        const to = [...following.keys()].toSorted((a, b) => a - b).find((then) => then > at && fits(at, then));
        if (to !== undefined) reachable.set(at, to);
      }
    }
    if (reachable.size === 0) return undefined;
    next[index] = reachable;
  }
  const matched: number[] = [];
  let at = Math.min(...(next[0]?.keys() ?? []));
  for (const reachable of next) {
    matched.push(at);
    at = reachable.get(at) ?? -1;
  }
  return { matched };
}

/** Whether the words between two positions can be left out. */
function createGapCheck(
  sentence: readonly Token[],
  language: Language,
  shortNames: ReadonlySet<string>,
): (from: number, to: number) => boolean {
  const { relatives, conjunctions, prepositions, scope } = WORD_LISTS[language];
  return (from, to) => {
    const between = sentence.slice(from + 1, to);
    const content = between.filter(isContent);
    if (content.length === 0) return true;
    if (content.every((token) => token.kind === "date" || isTimeWord(token, language))) return true;
    if (content.every(({ text }) => LEGAL_FORMS.has(text))) return true;
    // `Orbis Media agreed` where the page also calls it Orbis.
    if (content.length === 1 && between[0]?.isName === true && shortNames.has(sentence[from]?.key ?? "")) return true;
    if (isParenthesis(between, sentence[to])) return true;
    if (isApposition(between, sentence[to], { prepositions, scope })) return true;
    if (isBesideDate(between, sentence[to], prepositions)) return true;
    return isSharedSubject({ between, from, to }, sentence, { relatives, conjunctions });
  };
}

/** `Norda, which makes pumps, employs …`; a list of figures is no parenthesis. */
function isParenthesis(between: readonly Token[], next: Token | undefined): boolean {
  const first = between[0];
  const last = between.findLast(({ kind }) => kind !== "stop");
  if (first?.kind !== "break" || last?.kind !== "break" || between.length < 3) return false;
  if (first.text === ";" || first.text === ":" || last.text === ";" || last.text === ":") return false;
  const isFigure = next?.kind === "number" || next?.kind === "date";
  return !(isFigure && between.some(({ kind }) => kind === "number" || kind === "date"));
}

/** `the games publisher Lattice`: what kind of thing a name is. */
function isApposition(
  between: readonly Token[],
  next: Token | undefined,
  { prepositions, scope }: { prepositions: ReadonlySet<string>; scope: ReadonlySet<string> },
): boolean {
  const article = between.find(({ kind, key }) => kind !== "stop" || !prepositions.has(key));
  if (next?.isName !== true || article === undefined || !ARTICLES.has(article.key)) return false;
  const words = between.slice(between.indexOf(article) + 1);
  const isKind = words.every(({ kind, text, key }) => kind === "word" && !/^\p{Lu}/u.test(text) && !scope.has(key));
  return isKind && words.length <= MAX_PLACE_WORDS;
}

const ARTICLES = new Set("the a an le la les l un une".split(" "));

const MAX_PLACE_WORDS = 3;

/** `died in Delford on 19 January`, `rose by 6 percent in 2025`: a place or a measure beside the date. */
function isBesideDate(between: readonly Token[], next: Token | undefined, prepositions: ReadonlySet<string>): boolean {
  const [first] = between;
  const last = between.findLast(({ key }) => prepositions.has(key));
  if (next?.kind !== "date" || first?.kind !== "stop" || !prepositions.has(first.key)) return false;
  if (last === first || between.some(({ kind }) => kind === "break" || kind === "date")) return false;
  const content = between.filter(isContent);
  return (
    content.every(({ kind }) => kind === "number") ||
    (content.length <= MAX_PLACE_WORDS && content.every(({ kind }) => kind === "word"))
  );
}

/** Content words that a subject may have before its verb. */
const MAX_SUBJECT_WORDS = 4;

const AUXILIARIES = new Set("is are was were has have ist sind war waren hat haben est sont a ont".split(" "));

/** `Lattice had revenue of … and employs …`: the second verb has the subject of the first. */
function isSharedSubject(
  { between, from, to }: { between: readonly Token[]; from: number; to: number },
  sentence: readonly Token[],
  { relatives, conjunctions }: { relatives: ReadonlySet<string>; conjunctions: ReadonlySet<string> },
): boolean {
  const target = sentence[to];
  const conjunction = between.findLastIndex(({ kind, key }) => kind === "stop" && conjunctions.has(key));
  if (conjunction === -1 || target === undefined || target.isName) return false;
  const verbs = between.slice(conjunction + 1);
  // `and has 64 beds`; without a verb the words after the conjunction may have another subject.
  if (verbs.some(({ key }) => !AUXILIARIES.has(key)) || (target.kind !== "word" && verbs.length === 0)) return false;
  if (between.some(({ kind, key }) => kind === "stop" && relatives.has(key))) return false;
  return sentence.slice(0, from + 1).filter(isContent).length <= MAX_SUBJECT_WORDS;
}
