/**
 * Splits a report into claims: its sentences and cells, with what they depend on and the sources they cite.
 *
 * The blocks of the parsed document (`split/blocks.ts`) become sentences with the citations written in them
 * (`split/drafts.ts`); Google's ranges and grounding supports add theirs (`split/google-ties.ts`). `compare-page.ts`
 * compares a claim with a page, literally: by the figures (`figures.ts`) and the words of its passages (`page-index.ts`).
 * What was found is evidence (`evidence.ts`).
 */

import { type CitationNumbers, type CitedRange, resolveCitationNumbers } from "../reports/citations.ts";
import { NONE_PLACED, numbersByUrl } from "../reports/document/document.ts";
import type { Source } from "../reports/report.ts";
import { onOneLine } from "../reports/report-facts.ts";
import { type Claim, MAX_CLAIM_CHARACTERS } from "./evidence.ts";
import { blocksOf } from "./split/blocks.ts";
import { type Draft, draftsOf } from "./split/drafts.ts";
import { annotationTies, type GroundedSegment, supportTies, type Tie } from "./split/google-ties.ts";

export interface CitedReport {
  report: string;
  sources: readonly Source[];
  /** Google's annotations. */
  citations?: readonly CitedRange[] | undefined;
  /** Google's grounding supports. */
  supports?: readonly GroundedSegment[] | undefined;
  /** Set if numbers in brackets are source numbers, as after `citeByNumber`; otherwise the report must explain them. */
  isNumbered?: boolean | undefined;
}

const MAX_CLAIMS = 5_000;

export function splitClaims(given: CitedReport): Claim[] {
  // Half a character is replaced, which moves no position.
  const cited = { ...given, report: given.report.toWellFormed() };
  const { report, sources, citations = [], supports = [] } = cited;
  const numberOf = numbersByUrl(sources);
  const document = { text: report, sources, meant: meantBy(cited), placed: NONE_PLACED };
  const drafts: Draft[] = [];
  for (const draft of draftsOf(blocksOf(document, { numberOf, footnote: footnotesOf(report, numberOf) }))) {
    drafts.push(draft);
    if (drafts.length === MAX_CLAIMS) break;
  }
  const known = new Set(sources.map(({ n }) => n));
  const ties = [...annotationTies(report, citations), ...supportTies(report, supports, numberOf)];
  attach(
    drafts,
    ties.filter(({ source }) => known.has(source)),
  );
  return drafts.map((draft, index) => toClaim(draft, index + 1));
}

function meantBy(cited: CitedReport): CitationNumbers {
  const { google, plain } = resolveCitationNumbers(cited);
  const same = cited.isNumbered === true ? cited.sources.map(({ n }) => [n, n] as const) : [];
  return { google: new Map([...same, ...google]), plain: new Map([...same, ...plain]) };
}

function toClaim({ text, headings, context, start, end, cites }: Draft, n: number): Claim {
  const ordered = cites.toSorted((a, b) => a.at - b.at);
  return {
    n,
    // `cost more [1].` has a space before the full stop once the mark is taken out.
    text: onOneLine(text.slice(0, MAX_CLAIM_CHARACTERS).toWellFormed()).replaceAll(/ (?=[.,)])/g, ""),
    headings,
    context,
    start,
    end,
    sources: [...new Set(ordered.map(({ source }) => source))],
    googleSources: [...new Set(ordered.filter(({ isGoogle }) => isGoogle).map(({ source }) => source))],
  };
}

const MAX_FOOTNOTES = 1_000;

/** The sources whose URLs a footnote has. */
function footnotesOf(report: string, numberOf: (url: string) => number | undefined): (label: string) => number[] {
  const notes = new Map<string, string>();
  for (const [, label = "", note = ""] of report.matchAll(/^ {0,3}\[\^([^\s\][^]{1,60})\]:[ \t]*([^\n]{0,5000})/gm)) {
    if (notes.size < MAX_FOOTNOTES && !notes.has(label)) notes.set(label, note);
  }
  return (label) => {
    const urls = notes.get(label)?.matchAll(/https?:\/\/[^\s()<>[\]]{1,2000}/g) ?? [];
    return [...new Set([...urls].map(([url]) => numberOf(url)))].filter((n) => n !== undefined);
  };
}

/** A range over more sentences is no statement about one of them. */
const MAX_TIED_SENTENCES = 20;

/** Adds Google's ties. The drafts are in the order of the text and do not overlap. */
function attach(drafts: readonly Draft[], ties: readonly Tie[]): void {
  for (const { start, end, source } of ties) {
    const first = drafts[lastBefore(drafts, start)] === undefined ? 0 : lastBefore(drafts, start);
    if (start === end) {
      const draft = drafts[first];
      if (draft !== undefined && start >= draft.reach.start && start <= draft.reach.end) {
        draft.cites.push({ at: start, source, isGoogle: true });
      }
      continue;
    }
    for (let index = first; index < Math.min(drafts.length, first + MAX_TIED_SENTENCES); index += 1) {
      const draft = drafts[index];
      if (draft === undefined || draft.start >= end) break;
      const shared = Math.min(end, draft.end) - Math.max(start, draft.start);
      if (shared * 2 >= Math.min(end - start, draft.end - draft.start)) {
        draft.cites.push({ at: Math.min(end, draft.end), source, isGoogle: true });
      }
    }
  }
}

/** The last draft whose reach begins before the position, or -1. */
function lastBefore(drafts: readonly Draft[], position: number): number {
  let low = 0;
  let high = drafts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((drafts[middle]?.reach.start ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
