/** A claim whose words were found in a sentence, and the objections to the match. */

import type { Token } from "../language/tokens.ts";
import type { PageWords } from "./gaps.ts";

/** One way in which a sentence of the page may state a claim. */
export interface Reading {
  /** All words of the claim, and those that the sentence must contain, in order. */
  claim: readonly Token[];
  content: Token[];
  sentence: readonly Token[];
}

export interface Aligned extends Reading {
  /** Positions in the sentence of `content`. */
  matched: readonly number[];
  page: PageWords;
}

/** A reason against the alignment; `weak` if the page only says it less firmly. */
export type Objection = { kind: "weak" | "no"; reason: string };

export const no = (reason: string): Objection => ({ kind: "no", reason });

export const isBreak = (token: Token | undefined): boolean => token?.kind === "break";

/** The words of a list that occur, in lower case. */
export const keysIn = (tokens: readonly Token[], list: ReadonlySet<string>): string[] =>
  tokens.map(({ text }) => text.toLowerCase()).filter((word) => list.has(word));
