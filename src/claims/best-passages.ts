/** The passages of a page that are nearest to a claim, for a model that judges them. */

import { type Claim, MAX_CLAIM_CHARACTERS } from "./claim.ts";
import { wordsIn } from "./normal-text.ts";
import { type PageIndex, stemOf } from "./page-index.ts";

const MAX_PASSAGE_CHARACTERS = 800;
/** A figure or date identifies a passage better than a word, and in every language. */
const FIGURE_WEIGHT = 3;

/** Best first; each is a sentence with its neighbours in the same block. Empty if nothing is shared. */
export function bestPassages(
  claim: Pick<Claim, "text" | "context">,
  { sentences, blocks, words }: PageIndex,
  count: number,
): string[] {
  const text = [...claim.context, claim.text].join(" ").slice(0, MAX_CLAIM_CHARACTERS);
  const scores = new Map<number, number>();
  for (const word of new Set(wordsIn(text).map(stemOf))) {
    const found = words.get(word) ?? [];
    // Rare words weigh more; a word of every sentence says little.
    const rarity = Math.log(1 + sentences.length / (1 + found.length));
    const weight = /^\d/.test(word) ? FIGURE_WEIGHT * rarity : rarity;
    for (const at of found) scores.set(at, (scores.get(at) ?? 0) + weight);
  }
  // A title alone states nothing.
  scores.delete(0);
  const ranked = [...scores].toSorted(([a, one], [b, other]) => other - one || a - b);
  const used = new Set<number>();
  const passages: string[] = [];
  for (const [at] of ranked) {
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
