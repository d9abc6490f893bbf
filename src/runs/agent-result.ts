/** A finished interaction as a result: its report, and its sources numbered as the report cites them. */

import type { Interaction } from "../gemini/agent.ts";
import { MARK } from "../reports/citation-places.ts";
import { pageKey } from "../reports/page-key.ts";
import { keepPictures } from "../reports/pictures/keep.ts";
import { linkedSources } from "./polling/linked-sources.ts";
import { numberSources, type Source } from "../reports/report.ts";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import type { NewResult } from "./run.ts";

/** The agent ends its reports with `3. [domain](address)`: its own numbers, which its `[cite: 3]` marks use. */
const LISTED_SOURCE = /^[ \t]*(\d{1,4})\.[ \t]+\[([^\]\n]*)\]\((https?:\/\/[^)\s]+)\)[ \t\r]*$/gm;

export function resultOf(
  interaction: Interaction,
  { partial, note }: { partial: boolean; note?: string | undefined },
): NewResult {
  const { sources, aliases } = citedSources(interaction);
  const byPage = new Map(sources.map((source) => [pageKey(source.url), source.n]));
  const citations = interaction.citations.flatMap(({ sourceIndex, startByte, endByte }) => {
    const n = byPage.get(pageKey(interaction.sources[sourceIndex]?.url ?? ""));
    return n === undefined ? [] : [{ n, start_byte: startByte, end_byte: endByte }];
  });
  const { earlierOutputs, rawStatus } = interaction;
  const { pictures, note: lacking } = keepPictures(interaction.pictures);
  const notes = [note, lacking].filter((each) => each !== undefined);
  return {
    report: withOneNumberPerPage(interaction.report, aliases),
    sources,
    citations,
    metadata: {
      upstream_status: rawStatus,
      searches: interaction.searches.length,
      ...(earlierOutputs.length > 0 ? { earlier_outputs: earlierOutputs } : {}),
      ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
    },
    partial,
    pictures,
    searchSuggestions: keepSuggestions(interaction.searchSuggestions),
  };
}

interface Listed {
  n: number;
  url: string;
  title: string;
}

interface CitedSources {
  sources: Source[];
  /** Numbers under which the report cites a page that has another, lower number too. */
  aliases: ReadonlyMap<number, number>;
}

function citedSources({ report, sources }: Interaction): CitedSources {
  const titles = new Map(sources.map(({ url, title }) => [pageKey(url), title]));
  const byPage = new Map<string, Listed>();
  const listed = [...report.matchAll(LISTED_SOURCE)].map(([, n, title = "", url = ""]) => ({
    n: Number(n),
    url,
    title,
  }));
  for (const source of listed) {
    const known = byPage.get(pageKey(source.url));
    if (known === undefined || source.n < known.n) byPage.set(pageKey(source.url), source);
  }
  const kept = new Set([...byPage.values()].map(({ n }) => n));
  // A number that the report's list gives to two pages is no alias.
  const aliases = new Map(
    listed.flatMap(({ n, url }) => (kept.has(n) ? [] : [[n, byPage.get(pageKey(url))?.n ?? n] as const])),
  );
  // Not Math.max(...numbers): a report may list more sources than a call has room for arguments.
  let highest = 0;
  for (const { n } of byPage.values()) highest = Math.max(highest, n);
  for (const { url, title } of sources.length > 0 ? sources : linkedSources(report)) {
    if (!byPage.has(pageKey(url))) byPage.set(pageKey(url), { n: (highest += 1), url, title });
  }
  const inOrder = [...byPage.values()].toSorted((a, b) => a.n - b.n);
  const titled = inOrder.map(({ url, title }) => ({ url, title: titles.get(pageKey(url)) || title }));
  return {
    sources: numberSources(titled).map((source, index) => ({ ...source, n: inOrder[index]?.n ?? source.n })),
    aliases,
  };
}

/** The marks keep their length, so that Google's byte offsets still point at them. */
function withOneNumberPerPage(report: string, aliases: ReadonlyMap<number, number>): string {
  if (aliases.size === 0) return report;
  return report.replaceAll(new RegExp(MARK, "gi"), (mark: string, googles?: string) =>
    googles === undefined
      ? mark
      : mark.replaceAll(/\d+/g, (n) => String(aliases.get(Number(n)) ?? n).padStart(n.length)),
  );
}
