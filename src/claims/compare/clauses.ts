/** Splits a claim into clauses that may be found apart from each other. */

import { isContent, type Token } from "../language/tokens.ts";
import { type Language, WORD_LISTS } from "../language/word-lists.ts";

/** They begin a clause with a subject of its own. */
const SUBORDINATORS = new Set("although though whereas obwohl quoique".split(" "));

const MIN_CLAUSE_WORDS = 2;
const MAX_CLAUSES = 4;

/** The whole claim first, then its clauses. */
export function clausesOf(claim: readonly Token[], language: Language): Token[][][] {
  const whole = [[...claim]];
  const { conjunctions } = WORD_LISTS[language];
  const clauses: Token[][] = [[]];
  for (const [at, token] of claim.entries()) {
    const next = claim[at + 1];
    const isBoundary =
      (token.kind === "break" && /^[;、]$/u.test(token.text)) ||
      (token.kind === "break" && token.text === "," && next?.kind === "stop" && conjunctions.has(next.key)) ||
      (token.kind === "stop" && SUBORDINATORS.has(token.key));
    if (isBoundary) clauses.push([]);
    else clauses.at(-1)?.push(token);
  }
  if (clauses.length === 1 || clauses.length > MAX_CLAUSES) return [whole];
  if (clauses.some((clause) => clause.filter(isContent).length < MIN_CLAUSE_WORDS)) return [whole];
  return [whole, clauses];
}
