/**
 * What a newer report of a question says otherwise, says for the first time, or says no more than an older one. What both
 * say in the same words is no finding; the row of a table is compared with the row of the same name; and each of the other
 * claims is compared with the older report as if that were a page that it cites, and the other way round.
 */

import { setImmediate } from "node:timers/promises";
import { compareClaims, comparePage, type Comparison } from "./compare-page.ts";
import { CELL_SEPARATOR, type Claim, displayedClaim } from "./evidence.ts";
import { comparable, type ComparedPage } from "./page-index.ts";
import { namesOf, readSayings, saysTheSame } from "./reworded.ts";
import { wordsIn } from "./words.ts";

interface ChangedFinding {
  now: string;
  before: string;
  /** What the older one says in the place of the changed figure, date, name or direction. */
  said?: string | undefined;
}

export interface ReportChanges {
  changed: ChangedFinding[];
  added: string[];
  gone: string[];
}

/** Shorter sentences are introductions and labels. */
const MIN_WORDS = 4;
/** Of each report, besides what both say in the same words: the time grows with the product of the two. */
const MAX_COMPARED = 400;
const MAX_SAYINGS = 1_000;

export async function compareReports(
  { before, now }: { before: readonly Claim[]; now: readonly Claim[] },
  signal: AbortSignal,
): Promise<ReportChanges> {
  const older = findingsMissingIn(now, before);
  const newer = findingsMissingIn(before, now);
  const changes = comparedRows(older.filter(isRow), newer.filter(isRow));
  const names = namesOf([...before, ...now]);
  const oldSentences = older.filter((claim) => !isRow(claim));
  const newSentences = newer.filter((claim) => !isRow(claim));
  const compared = await compareClaims({ page: pageOf(oldSentences), claims: newSentences }, signal);
  const labelled = byLabel(oldSentences);
  const said = await saidIn(before, newSentences, { names, signal });
  for (const [index, claim] of newSentences.entries()) {
    const { verdict, passage, pageSays } = besideItsLabel(claim, labelled) ?? compared[index] ?? NOTHING;
    if (isUnchanged(verdict, said.has(claim))) continue;
    if (verdict !== "conflict" || isAboutElse(claim, before)) changes.added.push(displayedClaim(claim));
    else if (passage !== undefined) {
      changes.changed.push({ now: displayedClaim(claim), before: passage, said: pageSays });
    }
  }
  const missed = await compareClaims({ page: pageOf(newSentences), claims: oldSentences }, signal);
  const kept = await saidIn(now, oldSentences, { names, signal });
  for (const [index, claim] of oldSentences.entries()) {
    const { verdict } = missed[index] ?? NOTHING;
    if (isUnchanged(verdict, kept.has(claim))) continue;
    if (verdict !== "conflict" || isAboutElse(claim, now)) changes.gone.push(displayedClaim(claim));
  }
  return changes;
}

const NOTHING: Comparison = { verdict: "not_found" };

/** What one sentence says otherwise is a change, whatever another one says. Nearly the same is not the same. */
const isUnchanged = (verdict: Comparison["verdict"], isSaid: boolean): boolean =>
  verdict === "confirmed" || (isSaid && verdict !== "conflict");

/** It has a label that the other report has not: another town's figure is no other figure of this one. */
const isAboutElse = (claim: Claim, others: readonly Claim[]): boolean =>
  claim.context.length > 0 && !others.some((other) => labelOf(other) === labelOf(claim));

/** The same words, with what they are about. */
const keyOf = (claim: Claim): string => comparable([...claim.context, claim.text].join(": "));

function findingsMissingIn(others: readonly Claim[], claims: readonly Claim[]): Claim[] {
  const known = new Set(others.map(keyOf));
  return claims
    .filter((claim) => !known.has(keyOf(claim)) && (isRow(claim) || wordsIn(displayedClaim(claim)).length >= MIN_WORDS))
    .slice(0, MAX_COMPARED);
}

interface Reading {
  names: ReadonlySet<string>;
  signal: AbortSignal;
}

/** Those that the other report says in other words. */
async function saidIn(
  others: readonly Claim[],
  claims: readonly Claim[],
  { names, signal }: Reading,
): Promise<Set<Claim>> {
  const sayings = readSayings(others.slice(0, MAX_SAYINGS), names);
  const found = new Set<Claim>();
  for (const claim of claims) {
    await setImmediate();
    signal.throwIfAborted();
    if (saysTheSame(claim, sayings, names)) found.add(claim);
  }
  return found;
}

/** The cells of a table's row, or a value beside its label. */
const isRow = ({ text, context }: Claim): boolean =>
  context.length > 0 && (text.includes(CELL_SEPARATOR) || wordsIn(text).length < MIN_WORDS);

/** By what they are about. A label that several claims of a report have says nothing about which of them is meant. */
function byLabel(claims: readonly Claim[]): Map<string, Claim | undefined> {
  const labelled = new Map<string, Claim | undefined>();
  for (const claim of claims) labelled.set(labelOf(claim), labelled.has(labelOf(claim)) ? undefined : claim);
  return labelled;
}

const labelOf = ({ context }: Claim): string => comparable(context.join(": "));

/** What the sentence with the same label says otherwise, whatever others say. */
function besideItsLabel(claim: Claim, labelled: ReturnType<typeof byLabel>): Comparison | undefined {
  const other = claim.context.length === 0 ? undefined : labelled.get(labelOf(claim));
  if (other === undefined) return undefined;
  const compared = comparePage(claim, pageOf([other]));
  return compared.verdict === "conflict" ? compared : undefined;
}

function comparedRows(older: readonly Claim[], newer: readonly Claim[]): ReportChanges {
  const [before, now] = [byLabel(older), byLabel(newer)];
  return {
    changed: newer.flatMap((row) => {
      const other = before.get(labelOf(row));
      if (other === undefined || now.get(labelOf(row)) === undefined) return [];
      const said = other.text.split(CELL_SEPARATOR).filter((cell) => !row.text.split(CELL_SEPARATOR).includes(cell));
      return { now: displayedClaim(row), before: displayedClaim(other), said: said.join(CELL_SEPARATOR) };
    }),
    added: newer.filter((row) => !before.has(labelOf(row))).map(displayedClaim),
    gone: older.filter((row) => !now.has(labelOf(row))).map(displayedClaim),
  };
}

/** Each sentence is a block of its own, with the label that says what it is about. */
const pageOf = (claims: readonly Claim[]): ComparedPage => ({
  isReport: true,
  title: "",
  blocks: claims.map(({ text, context }) => [...context, text].join(": ")),
});
