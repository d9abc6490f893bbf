/** Reads and removes the numbered source list at the end of a report. */

import { MARK, numbersIn } from "./positions.ts";
import { pageKey } from "../page-key.ts";
import type { Source } from "../report.ts";

/** `3. [domain](url)`: the agent's own numbers, as used by its `[cite: 3]` marks. */
const LISTED_SOURCE = /^[ \t]*(\d{1,4})\.[ \t]+\[([^\]\n]*)\]\((https?:\/\/[^)\s]+)\)[ \t\r]*$/;
const LIST_TITLE =
  /^[#*_ \t]*(?:\d{1,2}[.)][ \t]*)?(?:sources(?: cited)?|references|works cited|bibliography|citations|quellen(?:verzeichnis|angaben)?|literatur(?:verzeichnis)?|einzelnachweise|références|bibliographie|参考文献|引用文献|出典|情報源|参考資料)[:：*_ \t\r]*$/i;

const MAX_TITLE_CHARACTERS = 100;

export const isSourceListTitle = (line: string): boolean =>
  line.length <= MAX_TITLE_CHARACTERS && LIST_TITLE.test(line);

export interface ListedSource {
  n: number;
  title: string;
  url: string;
}

function entryOf(line: string): ListedSource | undefined {
  // A cheap check that most lines fail.
  if (!line.includes("](http")) return undefined;
  const [, n, title = "", url = ""] = LISTED_SOURCE.exec(line) ?? [];
  return n === undefined ? undefined : { n: Number(n), title, url };
}

/**
 * Starts at the source list's heading if there is exactly one, because numbered links before it are part of the report.
 */
export function listedSources(report: string): ListedSource[] {
  const lines = report.split("\n");
  const titles = lines.flatMap((line, index) => (isSourceListTitle(line) ? [index] : []));
  const first = titles.length === 1 ? (titles[0] ?? 0) : 0;
  return lines.slice(first).flatMap((line) => entryOf(line) ?? []);
}

/** Drops numbers that are listed for more than one page. */
export function dropAmbiguousNumbers(listed: readonly ListedSource[]): ListedSource[] {
  const pages = new Map<number, Set<string>>();
  for (const { n, url } of listed) pages.set(n, (pages.get(n) ?? new Set()).add(pageKey(url)));
  return listed.filter(({ n }) => pages.get(n)?.size === 1);
}

/**
 * Removes the closing list if all of its pages are among `sources`. Numbered links stay if no heading and no mark
 * identifies them as sources.
 */
export function removeSourceList(report: string, sources: readonly Source[]): string {
  const known = new Set(sources.map(({ url }) => pageKey(url)));
  const lines = report.trimEnd().split("\n");
  const numbers = new Set<number>();
  let end = lines.length;
  for (; end > 0; end -= 1) {
    const line = lines[end - 1] ?? "";
    const entry = entryOf(line);
    if (entry !== undefined && known.has(pageKey(entry.url))) numbers.add(entry.n);
    else if (line.trim() !== "" || end === lines.length) break;
  }
  if (numbers.size === 0) return report;
  const hasTitle = isSourceListTitle(lines[end - 1] ?? "");
  const body = lines.slice(0, hasTitle ? end - 1 : end).join("\n");
  return hasTitle || citesAny(body, numbers) ? body : report;
}

const citesAny = (body: string, numbers: ReadonlySet<number>): boolean =>
  [...body.matchAll(new RegExp(MARK, "gi"))].some(([, , list = ""]) => numbersIn(list).some((n) => numbers.has(n)));
