/** The sentences of a page, read once for all claims that cite it. */

import type { PageText } from "../../pages/page.ts";
import { languageOf } from "../language/detect.ts";
import { normalized, type Token, tokensOf } from "../language/tokens.ts";
import type { Language } from "../language/word-lists.ts";
import { sentencesIn } from "../split/sentences.ts";

export interface PageSentences {
  /** The title first. */
  sentences: readonly string[];
  /** The block of each sentence, counted from the title. */
  blocks: readonly number[];
  /** Undefined if it is none of those that can be compared. */
  language: Language | undefined;
  /** Read as the page's language, or as English. */
  tokens: readonly (readonly Token[])[];
  /** Names that the page also uses without the word after them: `Orbis` of `Orbis Media`. */
  shortNames: ReadonlySet<string>;
}

/** Reading more would take seconds. */
const MAX_SENTENCES = 5_000;
const MAX_SENTENCE_CHARACTERS = 3_000;

/** `Basel, 7 May 2026 – ` before the first sentence of a report. */
const DATELINE = /^\p{Lu}[\p{L} ./-]{1,40}(?:,| \()[^–—]{0,30}?\)?\s(?:[–—]|-(?=\s))\s?/u;

const known = new WeakMap<PageText, PageSentences>();

export function readPageSentences(page: PageText): PageSentences {
  const before = known.get(page);
  if (before !== undefined) return before;
  const sentences = [page.title.slice(0, MAX_SENTENCE_CHARACTERS)];
  const blocks = [0];
  for (const [index, block] of page.blocks.entries()) {
    const text = normalized(block).replace(DATELINE, "");
    for (const { start, end } of sentencesIn(text)) {
      if (sentences.length >= MAX_SENTENCES) break;
      sentences.push(text.slice(start, Math.min(end, start + MAX_SENTENCE_CHARACTERS)));
      blocks.push(index + 1);
    }
  }
  const language = languageOf(sentences.slice(0, 100).join(" "));
  const tokens = sentences.map((text) => tokensOf(text, language ?? "en"));
  const read = { sentences, blocks, language, tokens, shortNames: shortNamesIn(tokens) };
  known.set(page, read);
  return read;
}

function shortNamesIn(sentences: readonly (readonly Token[])[]): Set<string> {
  const isCapitalized = (token: Token | undefined): boolean => token?.kind === "word" && /^\p{Lu}/u.test(token.text);
  return new Set(
    sentences.flatMap((tokens) =>
      tokens
        .filter((token, at) => isCapitalized(token) && !isCapitalized(tokens[at + 1]) && !isCapitalized(tokens[at - 1]))
        .map(({ key }) => key),
    ),
  );
}
