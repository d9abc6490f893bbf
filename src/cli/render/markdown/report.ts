/** Renders a report for a terminal, with its citations as the numbers of the list of sources. */

import { type Document, parseParts } from "../../../reports/document/document.ts";
import type { Source } from "../../../reports/report.ts";
import { webUrl } from "../../../reports/web-address.ts";
import { blockLines } from "./blocks.ts";
import type { Space } from "../words.ts";

export function reportLines(document: Document, space: Space): string[] {
  const urls = new Map(document.sources.map((source) => [source.n, sourceUrl(source)]));
  const context = { ...space, sourceUrl: (n: number) => urls.get(n), writesUrls: space.link === undefined };
  const { parts, rest } = parseParts(document);
  const lines: string[] = [];
  for (const { tokens, isFirst } of parts) {
    const shown = blockLines(tokens, context);
    lines.push(...(isFirst || shown.length === 0 ? [] : [""]), ...shown);
  }
  return rest === "" ? lines : [...lines, "", ...rest.split("\n")];
}

/** The page itself where it is known, else Google's link to it; http and https only. */
export const sourceUrl = ({ url, resolved_url: resolved }: Source): string | undefined =>
  webUrl((resolved ?? url).trim()) ?? webUrl(url.trim());
