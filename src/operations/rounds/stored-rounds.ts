/** The rounds of a `deep_search`: what is stored of each, and how answers list them. */

import { z } from "zod";
import { pageKey } from "../../reports/page-key.ts";
import { type Source, unique } from "../../reports/report.ts";
import { VERIFICATION_METHODS } from "../../reports/verification.ts";
import type { SavedRound } from "../../runs/run.ts";
import { findingSchema } from "../../search/checks/finding.ts";
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
  ...(incomplete ? { incomplete } : {}),
  ...(isGrounded === false ? { ungrounded: true } : {}),
  ...(findings.length > 0 ? { findings } : {}),
  ...(method === undefined ? {} : { method }),
  ...(searchSuggestions.length > 0 ? { search_suggestions: searchSuggestions } : {}),
});

const method = z.enum(VERIFICATION_METHODS).exclude(["none"]).optional().catch(undefined);

export function storedRound(round: SavedRound): Round {
  const { model, incomplete, search_suggestions: suggestions, findings } = round.metadata;
  return {
    ...round,
    model: typeof model === "string" ? model : "auto-detected",
    incomplete: incomplete === true,
    isGrounded: round.metadata["ungrounded"] === true ? false : undefined,
    findings: z.array(findingSchema).catch([]).parse(findings),
    method: method.parse(round.metadata["method"]),
    searchSuggestions: z.array(z.string()).catch([]).parse(suggestions),
  };
}

export function roundLine(round: ReturnType<typeof roundsOf>[number]): string {
  return `- Round ${round.round_number}, sources ${rangesOf(round.sources_visited)}; queries: ${round.search_queries.join("; ")}. ${round.intermediate_result_summary}`;
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

/** Earlier versions stored the URLs of a round instead of the numbers of its sources. */
export function withNumberedRounds({ rounds, ...metadata }: Record<string, unknown>): Record<string, unknown> {
  const known = z.array(z.string()).catch([]).parse(metadata["sources_visited"]);
  const numberOf = (source: unknown): unknown => (typeof source === "string" ? known.indexOf(source) + 1 : source);
  const listOf = (value: unknown): unknown[] => z.array(z.unknown()).catch([]).parse(value);
  // Not parsed by a schema of its fields, which would change their order and so the text.
  const numbered = z
    .array(z.record(z.string(), z.unknown()))
    .catch([])
    .parse(rounds)
    .map((round) => ({ ...round, sources_visited: listOf(round["sources_visited"]).map(numberOf) }));
  return { ...metadata, rounds: numbered };
}

/** Names the sources of a round by number, because their URLs are long and already in `sources_visited` (U3). */
export function roundsOf(rounds: Round[], { sources, summaries }: { sources: readonly Source[]; summaries: string[] }) {
  const numbers = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  return rounds.map((round, index) => ({
    round_number: round.roundNumber,
    sources_visited: [...new Set(round.sources.flatMap(({ url }) => numbers.get(pageKey(url)) ?? []))],
    search_queries: unique(round.queries),
    intermediate_result_summary: summaries[index] ?? round.summary,
  }));
}
