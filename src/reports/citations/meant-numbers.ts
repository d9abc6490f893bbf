/** Which source each number in a report means, as far as the report itself or Google's citations say so. */

import { type ByteCitation, citedMarks } from "./positions.ts";
import { listedSources, withoutContradictions } from "./own-source-list.ts";
import { pageKey } from "../page-key.ts";
import type { Source } from "../report.ts";

/** From a number in the text to the number of a source; a number that is missing means no source that is known. */
export interface MeantNumbers {
  /** In `[cite: 1]`. */
  googles: ReadonlyMap<number, number>;
  /** In `[1]`; those that the report defines as `[1]: address` are not among them. */
  plain: ReadonlyMap<number, number>;
}

interface CitedText {
  report: string;
  sources: readonly Source[];
  citations?: readonly ByteCitation[] | undefined;
}

export function meantNumbers({ report, sources, citations = [] }: CitedText): MeantNumbers {
  const byPage = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  const listed = withoutContradictions(listedSources(report));
  const plain = new Map<number, number>();
  for (const { n, url } of listed) {
    const meant = byPage.get(pageKey(url));
    if (meant !== undefined) plain.set(n, meant);
  }
  const googles = new Map(inferredNumbers(report, citations));
  for (const { n } of listed) googles.delete(n);
  for (const [n, meant] of plain) googles.set(n, meant);
  for (const n of definedAddresses(report).keys()) plain.delete(n);
  return { googles, plain };
}

const DEFINITION = /^ {0,3}\[(\d{1,4})\]:[ \t]*<?(https?:\/\/[^\s<>]+)>?[^\n]*$/;

/** `[1]: address`; of several definitions the first counts. */
export function definedAddresses(report: string): Map<number, string> {
  const defined = new Map<number, string>();
  if (!report.includes("]:")) return defined;
  for (const line of report.split("\n")) {
    const definition = definitionIn(line);
    if (definition !== undefined && !defined.has(definition.n)) defined.set(definition.n, definition.url);
  }
  return defined;
}

export function definitionIn(line: string): { n: number; url: string } | undefined {
  const [, n, url = ""] = DEFINITION.exec(line) ?? [];
  return n === undefined ? undefined : { n: Number(n), url };
}

/** After so many rounds of elimination what is left is told by its order. */
const MAX_ELIMINATIONS = 5;

/**
 * A report that was cut short has lost its list, but Google sends one citation for each number of a mark: what all marks
 * with a number have in common is its page. Numbers on which marks disagree are left out.
 */
export function inferredNumbers(report: string, citations: readonly ByteCitation[]): Map<number, number> {
  const googles = citedMarks(report.toWellFormed(), citations).filter(({ isGoogles }) => isGoogles);
  const marks = googles
    .filter(({ numbers, cited }) => numbers.length === cited.size)
    .map(({ numbers, cited }) => ({ numbers, pages: [...cited], cited }));
  // Within a whole mark it does not matter which of its numbers means which of its pages; elsewhere it does.
  const elsewhere = new Set(
    googles.filter(({ numbers, cited }) => numbers.length !== cited.size).flatMap(({ numbers }) => numbers),
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

/** Within a mark two numbers mean two pages. Returns whether anything was learnt. */
function eliminate(numbers: readonly number[], candidates: ReadonlyMap<number, Set<number>>): boolean {
  let learnt = false;
  for (const n of numbers) {
    const possible = candidates.get(n);
    const [only] = possible?.size === 1 ? possible : [];
    if (only === undefined) continue;
    for (const other of numbers) if (other !== n && candidates.get(other)?.delete(only) === true) learnt = true;
  }
  return learnt;
}
