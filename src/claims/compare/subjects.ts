/** A claim names its subject where the page says `it` or `the company`. */

import { isContent, type Token } from "../language/tokens.ts";
import { LEGAL_FORMS } from "./passing-words.ts";

const PRONOUNS = new Set("it he she they il elle ils elles".split(" "));
const ARTICLES = new Set("the le la l".split(" "));
const KINDS = new Set(
  "company firm group maker manufacturer bank club association foundation museum city town team party university société entreprise groupe banque ville musée fondation".split(
    " ",
  ),
);

const isCapitalized = ({ kind, text }: Token): boolean => kind === "word" && /^\p{Lu}/u.test(text);

interface Place {
  /** The sentences of the page, the title first, and the blocks they are in. */
  tokens: readonly (readonly Token[])[];
  blocks: readonly number[];
  at: number;
}

/**
 * The claim's words with the page's word for its subject. Only if the page's title names one thing, which is the
 * claim's subject, and no other name stands before the sentence in its block. Undefined otherwise.
 */
export function withPagesSubject(content: readonly Token[], { tokens, blocks, at }: Place): Token[] | undefined {
  const names = content.slice(
    0,
    content.findIndex((token) => !isCapitalized(token)),
  );
  const titleNames = nameOf(tokens[0] ?? []);
  if (names.length === 0 || !names.every(({ key }) => titleNames.has(key))) return undefined;
  const earlier = tokens.filter((_sentence, index) => index > 0 && index < at && blocks[index] === blocks[at]);
  if (earlier.flat().some((token) => token.isName && !titleNames.has(token.key) && !LEGAL_FORMS.has(token.text))) {
    return undefined;
  }
  const [first, second] = tokens[at] ?? [];
  const rest = content.slice(names.length);
  if (first?.kind === "stop" && PRONOUNS.has(first.key)) return rest;
  const isKind = first !== undefined && ARTICLES.has(first.key) && second !== undefined && KINDS.has(second.key);
  return isKind ? [second, ...rest] : undefined;
}

/** The words of the only name in a title; empty if there are several names. */
function nameOf(title: readonly Token[]): Set<string> {
  const content = title.filter(isContent);
  const capitalized = content.flatMap((token, index) => (isCapitalized(token) ? [index] : []));
  const [first = 0] = capitalized;
  const isOneName = capitalized.every((index, order) => index === first + order);
  const names = capitalized.map((index) => content[index]).filter((token) => token !== undefined);
  return new Set(isOneName ? names.filter(({ text }) => !LEGAL_FORMS.has(text)).map(({ key }) => key) : []);
}
