/** Which words of a page's sentence a claim may leave out without changing what is said. */

import { isContent, type Token } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";
import { isTimeWord, LEGAL_FORMS } from "../language/passing-words.ts";

/** Facts about names and nouns, collected from the whole page. */
export interface PageWords {
  language: Language;
  /** Names that the page also uses without the word after them: `Orbis` of `Orbis Media`. */
  shortNames: ReadonlySet<string>;
  /** Neighbouring words of the title: `key rate`, where a sentence has `key interest rate`. */
  pairs: ReadonlySet<string>;
  /** Nouns that the page also uses without the one word that it otherwise puts before them: `the regulator`. */
  plainNouns: ReadonlySet<string>;
}

interface Gap {
  between: readonly Token[];
  before: Token | undefined;
  next: Token | undefined;
  /** The words directly before the gap, without a preposition or article between them. */
  named: readonly Token[];
  from: number;
}

/** Whether the words between two positions can be left out. */
export function createGapCheck(sentence: readonly Token[], page: PageWords): (from: number, to: number) => boolean {
  const { language } = page;
  const lists = WORD_LISTS[language];
  return (from, to) => {
    const between = sentence.slice(from + 1, to);
    const gap: Gap = { between, before: sentence[from], next: sentence[to], named: runBefore(sentence, from), from };
    if (startsOwnClause(between, lists)) return false;
    const content = between.filter(isContent);
    if (content.length === 0) return true;
    if (content.every((token) => token.kind === "date" || isTimeWord(token, language))) return true;
    if (content.every(({ text }) => LEGAL_FORMS.has(text))) return true;
    if (content.length === 1 && isPassingWord(gap, page)) return true;
    if (isParenthesis(between, gap.next)) return true;
    if (isApposition(gap, lists)) return true;
    if (isPassingPhrase(gap, lists) || isAgent(gap, lists)) return true;
    return isSharedSubject(gap, sentence, lists);
  };
}

function runBefore(sentence: readonly Token[], at: number): readonly Token[] {
  let from = at;
  while (from > 0 && sentence[from - 1]?.kind === "word") from -= 1;
  return sentence.slice(from, at + 1);
}

type Lists = (typeof WORD_LISTS)[Language];

const SUBJECTS = new Set("it he she they il elle ils elles er sie es".split(" "));

/** `Unlike Orrin, it has no moon`: what follows has a subject of its own. */
const startsOwnClause = (between: readonly Token[], { conjunctions }: Lists): boolean =>
  between.some(({ kind, key }, at) => {
    const before = between[at - 1];
    return kind === "stop" && SUBJECTS.has(key) && (before?.kind === "break" || conjunctions.has(before?.key ?? ""));
  });

/** One word: the rest of a name, a word that the page leaves out elsewhere, or an adverb of manner. */
function isPassingWord({ between, before, next }: Gap, { shortNames, pairs, language }: PageWords): boolean {
  const word = between.find(isContent);
  if (word === undefined || word.kind !== "word" || before === undefined || next === undefined) return false;
  const { scope, planned, possible, unreal, superseded } = WORD_LISTS[language];
  const lower = word.text.toLowerCase();
  if ([scope, planned, possible, unreal, superseded].some((list) => list.has(lower))) return false;
  // `Orbis Media agreed` where the page also calls it Orbis.
  if (between.length === 1 && word.isName && shortNames.has(before.key)) return true;
  if (between.length === 1 && pairs.has(`${before.key} ${next.key}`)) return true;
  return language === "en" && between.length === 1 && /[a-z]ly$/.test(word.text) && lower.length > 4;
}

const RELATIVE_PRONOUNS = new Set("which who whose qui dont".split(" "));

/** `Norda, which makes pumps, employs …`; a list of figures is no parenthesis. */
function isParenthesis(between: readonly Token[], next: Token | undefined): boolean {
  const first = between[0];
  const last = between.findLast(({ kind }) => kind !== "stop");
  if (first?.kind !== "break" || last?.kind !== "break" || between.length < 3) return false;
  if (first.text === ";" || first.text === ":" || last.text === ";" || last.text === ":") return false;
  if (RELATIVE_PRONOUNS.has(between[1]?.key ?? "")) return true;
  const isFigure = next?.kind === "number" || next?.kind === "date";
  return !(isFigure && between.some(({ kind }) => kind === "number" || kind === "date"));
}

/** `the games publisher Lattice`, `the island state of Talmar`: what kind of thing a name is. */
function isApposition({ between, next }: Gap, { prepositions, scope }: Lists): boolean {
  const article = between.find(({ kind, key }) => kind !== "stop" || !prepositions.has(key));
  if (next?.isName !== true || article === undefined || !ARTICLES.has(article.key)) return false;
  const words = between.slice(between.indexOf(article) + 1);
  if (words.at(-1)?.key === "of" && between[0]?.key === "of") words.pop();
  const isKind = words.every(({ kind, text, key }) => kind === "word" && !/^\p{Lu}/u.test(text) && !scope.has(key));
  return isKind && words.length <= MAX_PHRASE_WORDS;
}

const ARTICLES = new Set("the a an le la les l un une".split(" "));

const MAX_PHRASE_WORDS = 3;

/** Prepositions of a place, a time or a measure. */
const PASSING = new Set(
  "in on at near during by from since after in im am an bei beim um seit nach en dans à au pendant depuis de d".split(
    " ",
  ),
);

/**
 * `died in Delford on 19 January`, `rose by 6 percent to …`, `the Kessel Bridge in Port Adair reopened`: a place, time or
 * measure before another phrase, or after a name, which it does not restrict.
 */
function isPassingPhrase({ between, before, next, named }: Gap, lists: Lists): boolean {
  const [first] = between;
  const content = between.filter(isContent);
  if (first?.kind !== "stop" || !PASSING.has(first.key) || next === undefined) return false;
  if (content.length > MAX_PHRASE_WORDS || between.some((token) => isRestricting(token, lists))) return false;
  const isPlace = content.every(({ kind }) => kind === "word");
  const last = between.at(-1);
  const hasOwnPreposition =
    last !== undefined && last.kind === "stop" && last !== first && lists.prepositions.has(last.key);
  if (hasOwnPreposition && content.every(({ kind }) => kind === "number" || kind === "date")) return true;
  if (hasOwnPreposition && isPlace && before?.kind !== "number") return true;
  const isOfName = named.some(({ isName }) => isName) && named.every(({ kind }) => kind === "word");
  return isOfName && isPlace && content.every(({ text }) => /^\p{Lu}/u.test(text)) && next.kind === "word";
}

const MAX_AGENT_WORDS = 6;

/** `was founded in 2019 by Mara Kos and Tim Uhl in Freiburg`: who did it, before another phrase. */
function isAgent({ between }: Gap, { prepositions }: Lists): boolean {
  const [first, ...rest] = between;
  const last = rest.pop();
  if (first?.key !== "by" || last?.kind !== "stop" || !prepositions.has(last.key)) return false;
  const content = rest.filter(isContent);
  return (
    content.length <= MAX_AGENT_WORDS &&
    content.at(-1)?.isName === true &&
    rest.every(({ kind, key }) => kind === "word" || key === "and" || ARTICLES.has(key))
  );
}

const isRestricting = ({ kind, key }: Token, { scope, conjunctions, relatives }: Lists): boolean =>
  kind === "break" ||
  scope.has(key) ||
  (kind === "stop" && (conjunctions.has(key) || relatives.has(key) || key === "of"));

/** Content words that a subject may have before its verb. */
const MAX_SUBJECT_WORDS = 4;

const AUXILIARIES = new Set(
  "is are was were has have had been ist sind war waren hat haben worden est sont a ont été".split(" "),
);

/** `Lattice had revenue of … and employs …`: the second verb has the subject of the first. */
function isSharedSubject(
  { between, next: target, from }: Gap,
  sentence: readonly Token[],
  { relatives, conjunctions }: Lists,
): boolean {
  const conjunction = between.findLastIndex(({ kind, key }) => kind === "stop" && conjunctions.has(key));
  if (conjunction === -1 || target === undefined || target.isName) return false;
  const verbs = between.slice(conjunction + 1);
  // `and has 64 beds`; without a verb the words after the conjunction may have another subject.
  if (verbs.some(({ key }) => !AUXILIARIES.has(key)) || (target.kind !== "word" && verbs.length === 0)) return false;
  if (between.some(({ kind, key }) => kind === "stop" && relatives.has(key))) return false;
  return sentence.slice(0, from + 1).filter(isContent).length <= MAX_SUBJECT_WORDS;
}
