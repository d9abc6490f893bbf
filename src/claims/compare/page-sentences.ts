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
  /** Undefined for unsupported languages. */
  language: Language | undefined;
  /** Read as the page's language, or as English. */
  tokens: readonly (readonly Token[])[];
  shortNames: ReadonlySet<string>;
  pairs: ReadonlySet<string>;
  plainNouns: ReadonlySet<string>;
  abbreviations: Abbreviations;
}

/** Reading more would take seconds. */
const MAX_SENTENCES = 5_000;
const MAX_SENTENCE_CHARACTERS = 3_000;
/** A book has as many. */
const MAX_CHARACTERS = 1_000_000;

/** `Basel, 7 May 2026 – ` before the first sentence of a report. */
const DATELINE = /^\p{Lu}[\p{L} ./-]{1,40}(?:,| \()[^–—]{0,30}?\)?\s(?:[–—]|-(?=\s))\s?/u;

const known = new WeakMap<PageText, PageSentences>();

export function readPageSentences(page: PageText): PageSentences {
  const before = known.get(page);
  if (before !== undefined) return before;
  const sentences = [page.title.slice(0, MAX_SENTENCE_CHARACTERS)];
  const blocks = [0];
  const abbreviations = abbreviationsIn(page.blocks);
  let left = MAX_CHARACTERS;
  for (const [index, block] of page.blocks.entries()) {
    if (left <= 0 || sentences.length >= MAX_SENTENCES) break;
    const text = normalized(block.slice(0, left)).replace(DATELINE, "");
    left -= block.length;
    for (const { start, end } of sentencesIn(text)) {
      if (sentences.length >= MAX_SENTENCES) break;
      sentences.push(text.slice(start, Math.min(end, start + MAX_SENTENCE_CHARACTERS)));
      blocks.push(index + 1);
    }
  }
  // Cells of tables have few of the words by which a language is recognised.
  const running = sentences.filter((text) => text.split(": ").length < 3);
  const language = languageOf(running.slice(0, 100).join(" "));
  const tokens = sentences.map((text) => tokensOf(spelledOut(text, abbreviations), language ?? "en"));
  const read = {
    sentences,
    blocks,
    language,
    tokens,
    shortNames: shortNamesIn(tokens),
    pairs: pairsIn(tokens[0] ?? []),
    plainNouns: plainNounsIn(tokens),
    abbreviations,
  };
  known.set(page, read);
  return read;
}

/** `World Ageing Council (WAC)`: a name of several words, and its initials in parentheses. */
const INTRODUCTION =
  /((?:\p{Lu}[\p{L}-]{1,30}\s(?:(?:of|for|the|and|für|der|de|des)\s){0,2}){1,6}\p{Lu}[\p{L}-]{1,30}) \((\p{Lu}{2,8})\)/gu;

const MAX_ABBREVIATIONS = 20;

type Abbreviations = ReadonlyMap<string, string>;

function abbreviationsIn(blocks: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const block of blocks) {
    if (found.size >= MAX_ABBREVIATIONS) break;
    for (const [, name = "", short = ""] of block.slice(0, MAX_SENTENCE_CHARACTERS).matchAll(INTRODUCTION)) {
      const words = name.split(/\s+/).filter((word) => /^\p{Lu}/u.test(word));
      const own = words.slice(-short.length);
      if (own.map((word) => word[0]).join("") === short) found.set(short, name.slice(name.indexOf(own[0] ?? "")));
    }
  }
  return found;
}

/** The text with names in place of their abbreviations. */
export function spelledOut(text: string, abbreviations: Abbreviations): string {
  let spelled = text;
  for (const [short, name] of abbreviations) {
    spelled = spelled
      .replaceAll(` (${short})`, "")
      .replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${short}(?![\\p{L}\\p{N}])`, "gu"), name);
  }
  return spelled;
}

function shortNamesIn(sentences: readonly (readonly Token[])[]): Set<string> {
  const isCapitalised = (token: Token | undefined): boolean => token?.kind === "word" && /^\p{Lu}/u.test(token.text);
  return new Set(
    sentences.flatMap((tokens) =>
      tokens
        .filter((token, at) => isCapitalised(token) && !isCapitalised(tokens[at + 1]) && !isCapitalised(tokens[at - 1]))
        .map(({ key }) => key),
    ),
  );
}

/** Neighbours without a word between them. */
function pairsIn(tokens: readonly Token[]): Set<string> {
  return new Set(
    tokens.slice(1).flatMap((token, at) => {
      const before = tokens[at];
      return before?.kind === "word" && token.kind === "word" ? [`${before.key} ${token.key}`] : [];
    }),
  );
}

function plainNounsIn(sentences: readonly (readonly Token[])[]): Set<string> {
  const definite = new Set<string>();
  const modifiers = new Map<string, Set<string>>();
  for (const tokens of sentences.slice(1)) {
    for (const [at, { kind, key }] of tokens.entries()) {
      const before = tokens[at - 1];
      if (kind !== "word" || before === undefined) continue;
      if (before.kind === "stop" && before.key === "the") definite.add(key);
      if (before.kind === "word") modifiers.set(key, (modifiers.get(key) ?? new Set()).add(before.key));
    }
  }
  return new Set([...definite].filter((key) => (modifiers.get(key)?.size ?? 0) === 1));
}
