/** Compares a claim with the text of the page it cites, without a model. */

import type { PageText } from "../pages/page.ts";
import { type Claim, MAX_CLAIM_CHARACTERS } from "./claim.ts";
import { align, matches } from "./compare/alignment.ts";
import { clausesOf } from "./compare/clauses.ts";
import type { Objection } from "./compare/aligned.ts";
import { objectionTo } from "./compare/gates.ts";
import { type PageSentences, readPageSentences, spelledOut } from "./compare/page-sentences.ts";
import { readingsOf } from "./compare/readings.ts";
import { matchTableCell } from "./compare/table-cells.ts";
import { languageOf } from "./language/detect.ts";
import { isContent, normalized, type Token, tokensOf } from "./language/tokens.ts";
import type { Language } from "./language/word-lists.ts";

export interface Comparison {
  verdict: "supported" | "weak" | "not_confirmed";
  /** The sentence or sentences of the page that decided. */
  passage?: string;
  reason?: string;
}

export function comparePage(claim: Pick<Claim, "text" | "context" | "headings">, page: PageText): Comparison {
  const text = claim.text.slice(0, MAX_CLAIM_CHARACTERS);
  const read = readPageSentences(page);
  const verbatim = claim.context.length > 0 ? -1 : read.sentences.findIndex((sentence) => sameText(sentence, text));
  if (verbatim !== -1 && !isRetracted(read.tokens[verbatim + 1])) {
    return { verdict: "supported", passage: read.sentences[verbatim] ?? "" };
  }
  const { language } = read;
  const cell = matchTableCell([...claim.context, text].join(" "), page, language ?? languageOf(text) ?? "en");
  if (cell !== undefined) return { verdict: "supported", passage: cell };
  if (language === undefined || (languageOf(text) ?? language) !== language) {
    return notConfirmed("The claim and the page are in languages that cannot be compared.");
  }
  return compareSentences({ text, context: claim.context }, { ...read, language });
}

const notConfirmed = (reason: string, passage?: string): Comparison => ({
  verdict: "not_confirmed",
  reason,
  ...(passage === undefined ? {} : { passage }),
});

const sameText = (one: string, other: string): boolean => {
  const plain = (text: string): string =>
    normalized(text)
      .replace(/[\s.!。]+$/u, "")
      .toLowerCase();
  return one.length > 15 && plain(one) === plain(other);
};

const NOT_FOUND = "No sentence of the page says this in comparable words.";

type ComparedPage = PageSentences & { language: Language };

interface Found {
  at: number;
  objection: Objection | undefined;
}

function compareSentences(claim: Pick<Claim, "text" | "context">, page: ComparedPage): Comparison {
  let failure: Comparison | undefined;
  for (const clauses of clausesOf(tokensOf(spelledOut(claim.text, page.abbreviations), page.language), page.language)) {
    const comparison = judge(claim, { found: findClauses(clauses, page), wanted: clauses.length }, page);
    if (comparison.verdict !== "not_confirmed") return comparison;
    failure ??= comparison;
  }
  return failure ?? notConfirmed(NOT_FOUND);
}

/** Each clause must be found in one sentence; those after the first in the same sentence or the next. */
function findClauses(clauses: readonly (readonly Token[])[], page: ComparedPage): Found[] {
  const found: Found[] = [];
  for (const clause of clauses) {
    const near = found.at(-1)?.at;
    const here = findClause(clause, near === undefined ? [...page.tokens.keys()] : [near, near + 1], page);
    if (here === undefined) break;
    found.push(here);
    if (here.objection?.kind === "no") break;
  }
  return found;
}

function judge(
  claim: Pick<Claim, "text" | "context">,
  { found, wanted }: { found: readonly Found[]; wanted: number },
  page: ComparedPage,
): Comparison {
  const objections = found.flatMap(({ objection }) => objection ?? []);
  const refused = objections.find(({ kind }) => kind === "no");
  if (refused !== undefined) return notConfirmed(refused.reason);
  if (found.length < wanted) return notConfirmed(NOT_FOUND);
  if (!hasContext(claim, found, page)) return notConfirmed("The page states this about a different subject.");
  const passage = [...new Set(found.map(({ at }) => page.sentences[at] ?? ""))].join(" ");
  if (isRetracted(page.tokens[(found.at(-1)?.at ?? 0) + 1]))
    return notConfirmed("The page corrects it later.", passage);
  const [doubt] = objections;
  return doubt === undefined ? { verdict: "supported", passage } : { verdict: "weak", passage, reason: doubt.reason };
}

/** A text of fewer words says nothing without its labels. */
const MIN_OWN_WORDS = 4;

/** Whether the labels that the text depends on are in the sentence, or for a whole sentence at least in its block. */
function hasContext(
  { text, context }: Pick<Claim, "text" | "context">,
  found: readonly Found[],
  { tokens, blocks, language }: ComparedPage,
): boolean {
  if (context.length === 0) return true;
  const isShort = tokensOf(text, language).filter(isContent).length < MIN_OWN_WORDS;
  const labels = tokensOf((isShort ? context : context.slice(-1)).join(" "), language).filter(isContent);
  const [first] = found;
  const near = tokens.filter((_sentence, at) =>
    isShort ? at === first?.at : at === 0 || blocks[at] === blocks[first?.at ?? 0],
  );
  return labels.every((label) => near.some((sentence) => sentence.some((token) => matches(label, token))));
}

function findClause(clause: readonly Token[], candidates: readonly number[], page: ComparedPage): Found | undefined {
  let best: Found | undefined;
  for (const at of candidates) {
    for (const reading of readingsOf(clause, at, page)) {
      const alignment = align(reading.content, reading.sentence, page);
      if (alignment === undefined) continue;
      const objection = objectionTo({ ...reading, matched: alignment.matched, page });
      if (objection === undefined) return { at, objection };
      if (best === undefined || (best.objection?.kind === "no" && objection.kind === "weak")) best = { at, objection };
    }
  }
  return best;
}

const RETRACTIONS =
  /^(?:exaggerat|disput|doubt|question|overestimat|underestimat|zweifel|bezweifel|bestr(?:eit|itt)|contest|dout|correct(?:ed|ion|ions|s)$|revis|retract|withdr|wrong|incorrect|false|den(?:y|ied)|korrigier|berichtig|falsch|zurückgezogen|corrig|rectifi|faux|démen|訂正|誤)/u;

/** What such a sentence is about: the statement itself. */
const STATEMENTS =
  /^(?:this|that|these|figures?|numbers?|statements?|reports?|claims?|data|estimates?|value|dies|das|diese|angaben?|zahl(?:en)?|wert|cela|ce|cette|chiffres?|information)$/u;

/** Whether the sentence after the passage takes it back. */
function isRetracted(next: readonly Token[] | undefined): boolean {
  const words = next?.map(({ text }) => text.toLowerCase()) ?? [];
  const isDoubted = words.some((word, at) => word === "too" && /^(?:high|low|large|small)$/.test(words[at + 1] ?? ""));
  if (!isDoubted && !words.some((word) => RETRACTIONS.test(word))) return false;
  return words[0] === "it" || words.some((word) => STATEMENTS.test(word) || /^\p{Script=Han}/u.test(word));
}
