/** The list of sources with which the agent ends its reports, left out where ours takes its place. */

import { pageKey } from "./page-key.ts";
import type { Source } from "./report.ts";

const LISTED_SOURCE = /^[ \t]*\d{1,4}\.[ \t]+\[[^\]\n]*\]\(([^)\s]+)\)[ \t]*$/;
const LIST_TITLE = /^[#*_ \t]*(?:sources|references|works cited|quellen|bibliography)[:*_ \t]*$/i;

/** The agent ends its reports with a list of its sources, which ours repeats with titles and numbers. */
export function withoutOwnList(report: string, sources: readonly Source[]): string {
  const known = new Set(sources.map(({ url }) => pageKey(url)));
  const lines = report.trimEnd().split("\n");
  const isEntry = (line: string): boolean => known.has(pageKey(LISTED_SOURCE.exec(line)?.[1] ?? ""));
  let end = lines.length;
  while (end > 0 && (isEntry(lines[end - 1] ?? "") || (end < lines.length && lines[end - 1]?.trim() === ""))) end -= 1;
  if (end === lines.length) return report;
  if (LIST_TITLE.test(lines[end - 1] ?? "")) end -= 1;
  return lines.slice(0, end).join("\n");
}
