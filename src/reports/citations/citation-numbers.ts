/** Resolves the citation numbers in a report to source numbers, from the report's own list or Google's citations. */

import { type ByteCitation, citedMarks } from "./positions.ts";
import { listedSources, dropAmbiguousNumbers } from "./own-source-list.ts";
import { pageKey } from "../page-key.ts";
import type { Source } from "../report.ts";

/** Maps a number in the text to a source number; an unresolved number has no entry. */
export interface CitationNumbers {
  /** For `[cite: 1]`. */
  google: ReadonlyMap<number, number>;
  /** For `[1]`, except numbers that the report defines as `[1]: url`. */
  plain: ReadonlyMap<number, number>;
}

interface CitedText {
  report: string;
  sources: readonly Source[];
  citations?: readonly ByteCitation[] | undefined;
}

export function resolveCitationNumbers({ report, sources, citations = [] }: CitedText): CitationNumbers {
  const byPage = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  const listed = dropAmbiguousNumbers(listedSources(report));
  const plain = new Map<number, number>();
  for (const { n, url } of listed) {
    const meant = byPage.get(pageKey(url));
    if (meant !== undefined) plain.set(n, meant);
  }
  const google = new Map(inferCitationNumbers(report, citations));
  for (const { n } of listed) google.delete(n);
  for (const [n, meant] of plain) google.set(n, meant);
  for (const n of definedNumbers(report)) plain.delete(n);
  return { google, plain };
}

const DEFINITION = /^ {0,3}\[(\d{1,4})\]:[ \t]*<?https?:\/\/[^\s<>]+>?[^\n]*$/;

/** The numbers of definitions such as `[1]: url`. */
export function definedNumbers(report: string): Set<number> {
  if (!report.includes("]:")) return new Set();
  return new Set(report.split("\n").flatMap((line) => DEFINITION.exec(line)?.slice(1).map(Number) ?? []));
}

/** Numbers still ambiguous after these rounds of elimination are resolved by their order. */
const MAX_ELIMINATIONS = 5;

/**
 * Infers numbers for a report that was cut off before its source list. Google sends one citation for each number of a
 * mark, so the page common to all marks with a number is that number's page. Numbers on which marks disagree are left
 * out.
 */
export function inferCitationNumbers(report: string, citations: readonly ByteCitation[]): Map<number, number> {
  const google = citedMarks(report.toWellFormed(), citations).filter(({ isGoogleMark }) => isGoogleMark);
  const marks = google
    .filter(({ numbers, cited }) => numbers.length === cited.size)
    .map(({ numbers, cited }) => ({ numbers, pages: [...cited], cited }));
  // Within a complete mark the order of its numbers does not matter; in other marks it does.
  const elsewhere = new Set(
    google.filter(({ numbers, cited }) => numbers.length !== cited.size).flatMap(({ numbers }) => numbers),
  );
  const candidates = new Map<number, Set<number>>();
  for (const { numbers, cited } of marks) {
    for (const n of numbers) {
      const before = candidates.get(n) ?? cited;
      candidates.set(n, new Set([...before].filter((page) => cited.has(page))));
    }
  }
  for (let round = 0; round < MAX_ELIMINATIONS; round += 1) {
    if (!marks.some(({ numbers }) => eliminate(numbers, candidates))) break;
  }
  const meant = new Map<number, number>();
  for (const { numbers, pages } of marks) {
    for (const [index, n] of numbers.entries()) {
      const possible = candidates.get(n) ?? new Set();
      const page = possible.size === 1 ? [...possible][0] : elsewhere.has(n) ? undefined : pages[index];
      if (page !== undefined && possible.has(page) && !meant.has(n)) meant.set(n, page);
    }
  }
  const wrong = marks.filter(({ numbers, cited }) => {
    const pages = new Set(numbers.map((n) => meant.get(n)));
    return [...cited].some((page) => !pages.has(page));
  });
  for (const { numbers } of wrong) for (const n of numbers) if (candidates.get(n)?.size !== 1) meant.delete(n);
  return meant;
}

/** Two numbers of one mark are two pages. Returns whether a candidate was removed. */
function eliminate(numbers: readonly number[], candidates: ReadonlyMap<number, Set<number>>): boolean {
  let hasRemoved = false;
  for (const n of numbers) {
    const possible = candidates.get(n);
    const [only] = possible?.size === 1 ? possible : [];
    if (only === undefined) continue;
    for (const other of numbers) if (other !== n && candidates.get(other)?.delete(only) === true) hasRemoved = true;
  }
  return hasRemoved;
}
