/** How a word is related to the one before it, which must be the same in the claim and on the page. */

import { isContent, type Token } from "../language/tokens.ts";
import { type Aligned, no, type Objection } from "./aligned.ts";
import { isReversed } from "./word-orders.ts";

/** Prepositions of one meaning; the first of each is its name. */
const RELATIONS = [
  "by um",
  "to into onto auf à aux au",
  "from ab",
  "of von vom de du des d",
  "in on at within during im am bei beim en dans sur",
  "since seit depuis",
  "until till bis jusque jusqu",
  "before vor avant",
  "after nach après",
  "against gegen contre versus vs",
  "for für pour",
  "with mit avec",
  "without ohne sans",
  "over above über",
  "under below unter sous",
  "between zwischen entre",
  "than",
  "per pro",
].map((line) => line.split(" "));
const RELATION_OF = new Map(RELATIONS.flatMap((words) => words.map((word) => [word, words[0] ?? ""])));

/** The preposition between a token and the content word before it. */
export function relationBefore(tokens: readonly Token[], at: number): string {
  for (let index = at - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined || isContent(token) || token.kind === "break") return "";
    const relation = RELATION_OF.get(token.key);
    if (relation !== undefined) return relation;
  }
  return "";
}

/** Amounts and attributes are written with and without these. */
const OPTIONAL = new Set(["", "of", "by"]);

/** Each word must be related to the others by the same preposition: from and to, by and of. */
export function relations(aligned: Aligned): Objection | undefined {
  const { claim, content, sentence, matched } = aligned;
  for (const [index, token] of content.entries()) {
    const at = matched[index] ?? 0;
    const page = sentence[at];
    const ours = relationBefore(claim, claim.indexOf(token));
    const isName = page?.isName === true;
    const theirs = relationBefore(sentence, isName ? kindBefore(sentence, at, matched[index - 1] ?? -1) : at);
    if (ours === theirs || (index === 0 && theirs === "")) continue;
    if (token.kind === "number" && OPTIONAL.has(ours) && OPTIONAL.has(theirs)) continue;
    // `X's Y` and `Y of X`.
    if ((token.isPossessive && theirs === "of") || (page?.isPossessive === true && ours === "of")) continue;
    if (ours === "" && isSecondOfCompound(token, content[index - 1], aligned)) continue;
    return no("The page connects these words differently.");
  }
  return undefined;
}

/** `mill prices` and `prices at the mill`. */
const isSecondOfCompound = (token: Token, before: Token | undefined, { claim, sentence }: Aligned): boolean =>
  before !== undefined && claim.indexOf(before) > claim.indexOf(token) && isReversed([token, before], sentence);

/** Where the words begin that say what kind of thing a name is: `by the chemical maker Brannock`. */
function kindBefore(sentence: readonly Token[], at: number, previous: number): number {
  let from = at;
  const isKind = (token: Token | undefined): boolean => token?.kind === "word" && !/^\p{Lu}/u.test(token.text);
  while (from - 1 > previous && isKind(sentence[from - 1])) from -= 1;
  return from;
}
