/** The rounds of a `deep_search`: what is stored of each, and how answers list them. */

import { z } from "zod";
import { pageKey } from "../../reports/web-address.ts";
import { type Source, unique } from "../../reports/report.ts";
import { VERIFICATION_METHODS } from "../../reports/verification.ts";
import type { SavedRound } from "../../runs/run.ts";
import { CUTS } from "../../gemini/search-backend.ts";
import { findingSchema } from "../../search/checks/check.ts";
import type { Round } from "../../search/deep.ts";

/** What the continuation of a search needs of a round besides its text and sources. */
export const roundMetadata = ({
  model,
  searchSuggestions,
  incomplete,
  findings,
  method,
  isGrounded,
}: Round): Record<string, unknown> => ({
  model,
  ...(incomplete === false ? {} : { incomplete }),
  ...(isGrounded === false ? { ungrounded: true } : {}),
  ...(findings.length > 0 ? { findings } : {}),
  ...(method === undefined ? {} : { method }),
  ...(searchSuggestions.length > 0 ? { search_suggestions: searchSuggestions } : {}),
});

const method = z.enum(VERIFICATION_METHODS).exclude(["none"]).optional().catch(undefined);

const cut = z.enum(CUTS).or(z.literal(false)).catch(false);

export function storedRound(round: SavedRound): Round {
  const { model, incomplete, search_suggestions: suggestions, findings } = round.metadata;
  return {
    ...round,
    model: typeof model === "string" ? model : "auto-detected",
    incomplete: cut.parse(incomplete),
    isGrounded: round.metadata["ungrounded"] === true ? false : undefined,
    findings: z.array(findingSchema).catch([]).parse(findings),
    method: method.parse(round.metadata["method"]),
    searchSuggestions: z.array(z.string()).catch([]).parse(suggestions),
  };
}

export function roundLine(round: ReturnType<typeof roundsOf>[number]): string {
  const { round_number, source_numbers, sources_visited, search_queries, intermediate_result_summary: summary } = round;
  const sources = `sources ${rangesOf(source_numbers)} (${unique(sources_visited).join(", ")})`;
  return `- Round ${round_number}, ${sources}; queries: ${search_queries.join("; ")}. ${summary}`;
}

/** `1–3, 7` for 1, 2, 3 and 7: a round may have visited dozens of pages. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const n of numbers) {
    const last = ranges.at(-1);
    if (last?.to === n - 1) last.to = n;
    else ranges.push({ from: n, to: n });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** Names each source of a round by its site and its number, because their URLs are long and listed once already (U3). */
function sourceFields(numbers: readonly number[], sources: readonly Source[]) {
  const sites = new Map(sources.map(({ n, domain, url }) => [n, domain === "" ? url : domain]));
  return { sources_visited: numbers.map((n) => sites.get(n) ?? ""), source_numbers: [...numbers] };
}

export function roundsOf(rounds: Round[], { sources, summaries }: { sources: readonly Source[]; summaries: string[] }) {
  const numbers = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  return rounds.map((round, index) => ({
    round_number: round.roundNumber,
    ...sourceFields([...new Set(round.sources.flatMap(({ url }) => numbers.get(pageKey(url)) ?? []))], sources),
    search_queries: unique(round.queries),
    intermediate_result_summary: summaries[index] ?? round.summary,
  }));
}
