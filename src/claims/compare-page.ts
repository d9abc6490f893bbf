/** Compares claims with the text of the page they cite, literally and without a model. */

import { setImmediate } from "node:timers/promises";
import {
  addLetters,
  comparable,
  type ComparedPage,
  compareCell,
  indexPage,
  isTakenBack,
  nearestSentences,
  passageAround,
  type PageIndex,
  readPage,
  statementKey,
  withoutJoint,
} from "./page-index.ts";
import { wordsIn } from "./words.ts";
import { type Conflict, conflictWith } from "./conflict.ts";
import { CELL_SEPARATOR, type Claim, type Evidence, MAX_CLAIM_CHARACTERS } from "./evidence.ts";
import { likenessOf } from "./likeness.ts";

/** The part of the evidence that a text decides. */
export type Comparison = Pick<Evidence, "reason" | "passage" | "pageSays" | "probability"> & {
  verdict: "confirmed" | "likely" | "conflict" | "not_found";
};

type ComparedText = Pick<Claim, "text" | "context">;

export interface ComparisonJob {
  page: ComparedPage;
  claims: readonly ComparedText[];
}

/** The event loop gets its turn at least this often, whatever a page contains. */
const MAX_BUSY_MS = 10;

/** In the order of the claims. */
export async function compareClaims({ page, claims }: ComparisonJob, signal: AbortSignal): Promise<Comparison[]> {
  let since = performance.now();
  const pause = async (): Promise<void> => {
    if (performance.now() - since < MAX_BUSY_MS) return;
    await setImmediate();
    signal.throwIfAborted();
    since = performance.now();
  };
  const reading = readPage(page);
  let step = reading.next();
  for (; step.done !== true; step = reading.next()) await pause();
  const index = step.value;
  for (const { text } of claims) addLetters(index, text);
  const compared: Comparison[] = [];
  for (const claim of claims) {
    compared.push(compare(claim, index));
    await pause();
  }
  return compared;
}

/** The whole page at once, for short texts. */
export const comparePage = (claim: ComparedText, page: ComparedPage): Comparison => compare(claim, indexPage(page));

/** A text of fewer words says nothing without what surrounds it. */
const MIN_WORDS = 4;

function compare(claim: ComparedText, page: PageIndex): Comparison {
  const cells = claim.text.slice(0, MAX_CLAIM_CHARACTERS).split(CELL_SEPARATOR);
  if (cells.length === 1) return compareSentence(claim, page);
  return ofRow(cells.map((text) => compareSentence({ text, context: claim.context }, page)));
}

/** A row is confirmed or likely as a whole, and in conflict by any of its cells. */
function ofRow(cells: readonly Comparison[]): Comparison {
  const conflict = cells.find(({ verdict }) => verdict === "conflict");
  if (conflict !== undefined) return conflict;
  const open = cells.filter(({ verdict }) => verdict === "not_found");
  const passage = [...new Set(cells.flatMap((cell) => (open.length > 0 ? open : [cell])[0]?.passage ?? []))].join(" ");
  if (open.length > 0) {
    const reason = `The page has ${cells.length - open.length} of ${cells.length} values of this row.`;
    return { verdict: "not_found", reason, passage };
  }
  const isLiteral = cells.every(({ verdict }) => verdict === "confirmed");
  if (isLiteral) return { verdict: "confirmed", passage };
  return { verdict: "likely", passage, probability: Math.min(...cells.map(({ probability = 1 }) => probability)) };
}

function compareSentence(claim: ComparedText, page: PageIndex): Comparison {
  const text = withoutJoint(claim.text.slice(0, MAX_CLAIM_CHARACTERS));
  const { cell, isSame } = compareCell({ text, context: claim.context }, page.cells) ?? {};
  if (cell !== undefined && isSame === true) return { verdict: "confirmed", passage: cell.block };
  if (cell !== undefined) {
    return { verdict: "conflict", reason: CONFLICTS.figure, passage: cell.block, pageSays: cell.value };
  }
  const key = statementKey(comparable(text));
  const at = wordsIn(key).length < MIN_WORDS ? undefined : page.statements.get(key);
  if (at !== undefined) return literal(claim, key, { page, at });
  const nearest = nearestSentences({ text, context: claim.context }, page);
  const conflict = conflictWith(text, page, nearest);
  if (conflict !== undefined) {
    const { about, passage, says } = conflict;
    return { verdict: "conflict", reason: CONFLICTS[about], passage, pageSays: says };
  }
  const { probability, passage, isLikely } = likenessOf(text, page, nearest) ?? {};
  if (isLikely === true) return { verdict: "likely", probability, passage };
  const closest = nearest[0] === undefined ? undefined : passageAround(nearest[0], page);
  return { verdict: "not_found", reason: "No sentence of the page says nearly this.", passage: closest, probability };
}

const CONFLICTS: Record<Conflict["about"], string> = {
  figure: "The page has another figure.",
  date: "The page has another date.",
  name: "The page has another name.",
  direction: "The page says the opposite.",
  negation: "The page and the claim differ in a negation.",
};

/** The page has the words of the claim; they may still depend on what surrounds them. */
function literal(claim: ComparedText, key: string, { page, at }: { page: PageIndex; at: number }): Comparison {
  const passage = page.sentences[at] ?? "";
  if (isDependent(comparable(passage), key)) {
    return { verdict: "not_found", reason: "The page states it with other limits or less certainty.", passage };
  }
  if (isTakenBack(at, page)) {
    const both = `${passage} ${page.sentences[at + 1] ?? ""}`;
    return { verdict: "not_found", reason: "The next sentence of the page takes this back.", passage: both };
  }
  // The innermost label is what a sentence of a list is about.
  const label = comparable(claim.context.at(-1) ?? "");
  const near = [page.blockTexts[0], page.blockTexts[page.blocks[at] ?? 0]];
  if (near.some((block) => block?.includes(label))) return { verdict: "confirmed", passage };
  return { verdict: "not_found", reason: "The page states this about a different subject.", passage };
}

/** Conditions, denials and reports of what others say, in four languages. */
const DEPENDENCE =
  /(?<!\p{L})(?:if|unless|whether|according|sa(?:y|ys|id)|claim(?:s|ed)?|alleged(?:ly)?|reportedly|den(?:y|ies|ied)|rumou?rs?|critics|not|never|false|wenn|falls|sofern|ob|laut|zufolge|sagt(?:e|en)?|behaupte(?:t|te|n|ten)|angeblich|bestreite[tn]|bestritt(?:en)?|kritiker|nicht|kein(?:e[nmrs]?)?|nie|falsch|si|selon|d'après|di(?:t|sent|sait)|affirm(?:e|ent|ait|é)|prétend(?:u|ument)?|dément(?:i)?|pas|jamais|faux)(?!\p{L})|によると|場合|なら|れば|という|ない|誤/u;

/** Whether the rest of the sentence limits the clause: it is then no statement of the page. */
const isDependent = (sentence: string, clause: string): boolean => DEPENDENCE.test(sentence.replace(clause, ""));
