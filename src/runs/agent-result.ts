/** A finished interaction as a result: its report, and its sources numbered as the report cites them. */

import type { Interaction } from "../gemini/agent.ts";
import { keepPictures } from "../reports/pictures/keep.ts";
import { numberSources, type Source } from "../reports/report.ts";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import type { NewResult } from "./run.ts";

/** The agent ends its reports with `3. [domain](address)`: its own numbers, which its `[cite: 3]` marks use. */
const LISTED_SOURCE = /^[ \t]*(\d{1,4})\.[ \t]+\[([^\]\n]*)\]\((https?:\/\/[^)\s]+)\)[ \t\r]*$/gm;

export function resultOf(
  interaction: Interaction,
  { partial, note }: { partial: boolean; note?: string | undefined },
): NewResult {
  const sources = citedSources(interaction);
  const byUrl = new Map(sources.map((source) => [source.url, source.n]));
  const citations = interaction.citations.flatMap(({ sourceIndex, startByte, endByte }) => {
    const n = byUrl.get(interaction.sources[sourceIndex]?.url ?? "");
    return n === undefined ? [] : [{ n, start_byte: startByte, end_byte: endByte }];
  });
  const { earlierOutputs, rawStatus } = interaction;
  const { pictures, note: lacking } = keepPictures(interaction.pictures);
  const notes = [note, lacking].filter((each) => each !== undefined);
  return {
    report: interaction.report,
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

function citedSources(interaction: Interaction): Source[] {
  const numbers = new Map<string, number>();
  const titles = new Map(interaction.sources.map(({ url, title }) => [url, title]));
  for (const [, n, title, url = ""] of interaction.report.matchAll(LISTED_SOURCE)) {
    if (numbers.has(url)) continue;
    numbers.set(url, Number(n));
    if (!titles.get(url)) titles.set(url, title ?? "");
  }
  // Not Math.max(...numbers): a report may list more sources than a call has room for arguments.
  let highest = 0;
  for (const n of numbers.values()) highest = Math.max(highest, n);
  for (const { url } of interaction.sources) if (!numbers.has(url)) numbers.set(url, (highest += 1));
  const inOrder = [...numbers.keys()].toSorted((a, b) => (numbers.get(a) ?? 0) - (numbers.get(b) ?? 0));
  return numberSources(inOrder.map((url) => ({ url, title: titles.get(url) ?? "" }))).map((source) => {
    const n = numbers.get(source.url) ?? source.n;
    return { ...source, n };
  });
}
