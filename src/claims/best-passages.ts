/** The passages of a page that are nearest to a claim, for a model that judges them. */

import type { PageText } from "../pages/page.ts";
import { type Claim, MAX_CLAIM_CHARACTERS } from "./claim.ts";
import { matches } from "./compare/alignment.ts";
import { readPageSentences } from "./compare/page-sentences.ts";
import { languageOf } from "./language/detect.ts";
import { isContent, type Token, tokensOf } from "./language/tokens.ts";

const MAX_PASSAGE_CHARACTERS = 800;
/** A figure or date identifies a passage better than a word, and in every language. */
const FIGURE_WEIGHT = 3;

/** Best first; each is a sentence with its neighbours in the same block. Empty if nothing is shared. */
export function bestPassages(claim: Pick<Claim, "text" | "context">, page: PageText, count: number): string[] {
  const { sentences, blocks, tokens } = readPageSentences(page);
  const text = [...claim.context, claim.text].join(" ").slice(0, MAX_CLAIM_CHARACTERS);
  const wanted = tokensOf(text, languageOf(text) ?? "en").filter(isContent);
  const weights = wanted.map((token) => weightOf(token, tokens));
  const scores = tokens.map((sentence) =>
    wanted.reduce((sum, token, index) => sum + (occurs(token, sentence) ? (weights[index] ?? 0) : 0), 0),
  );
  const ranked = [...scores.keys()]
    .filter((at) => at > 0 && (scores[at] ?? 0) > 0)
    .toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const used = new Set<number>();
  const passages: string[] = [];
  for (const at of ranked) {
    if (passages.length === count) break;
    if (used.has(at)) continue;
    const around = [at - 1, at, at + 1].filter((index) => blocks[index] === blocks[at] && !used.has(index));
    for (const index of around) used.add(index);
    const whole = around.map((index) => sentences[index] ?? "").join(" ");
    passages.push(
      whole.length <= MAX_PASSAGE_CHARACTERS ? whole : (sentences[at] ?? "").slice(0, MAX_PASSAGE_CHARACTERS),
    );
  }
  return passages;
}

const occurs = (token: Token, sentence: readonly Token[]): boolean =>
  sentence.some((other) => matches(token, other) || (token.kind === "word" && other.key === token.key));

/** Rare words weigh more; a word of every sentence says little. */
function weightOf(token: Token, tokens: readonly (readonly Token[])[]): number {
  const count = tokens.filter((sentence) => occurs(token, sentence)).length;
  const rarity = Math.log(1 + tokens.length / (1 + count));
  return token.kind === "word" ? rarity : FIGURE_WEIGHT * rarity;
}
