/** The whole view of a run: its head and its report, with everything that answers say about the report. */

import { z } from "zod";
import { linkExpiry } from "../../reports/link-expiry.ts";
import type { Source } from "../../reports/report.ts";
import { verificationSchema } from "../../reports/verification.ts";
import type { FinishedRun } from "../../runs/local/local-run.ts";
import { suggestionLinks } from "../parts/answer-extras.ts";
import { type WishesAnswer, wishesIn, wishesMetadata } from "../question/wishes.ts";
import { headOf } from "./read-view.ts";
import type { RunHead } from "./run-view.ts";

/** A round of a deep_search. */
export const roundSchema = z.looseObject({
  round_number: z.number(),
  sources_visited: z.array(z.string()).describe("The site of each."),
  source_numbers: z.array(z.number()).describe("Positions in sources_visited above, from 1."),
  search_queries: z.array(z.string()),
  intermediate_result_summary: z.string(),
});

/** What is stored beside a report: what its gates, its rounds and the backends said about it. */
const resultFacts = z
  .object({
    /** The report breaks off. */
    incomplete: z.boolean(),
    /** What is special about the report. */
    note: z.string(),
    verified: z.boolean(),
    verified_in_round: z.number(),
    verification: verificationSchema,
    search_queries_used: z.array(z.string()),
    /** Unusual circumstances. */
    notices: z.array(z.string()),
    /** Rounds done, failed ones included. */
    iterations: z.number(),
    rounds: z.array(roundSchema),
  })
  .partial();

export type ResultFacts = z.output<typeof resultFacts>;

/** A run with its report. */
export interface RunWhole extends RunHead, ResultFacts {
  duration_ms: number;
  model?: string | undefined;
  tokens: { input: number; output: number };
  /** Markdown that cites its sources by number. */
  report: string;
  sources: Source[];
  /** The last day of the redirect links among the sources. */
  links_expire?: string | undefined;
  /** Markdown links, which Google asks to show. */
  search_suggestions?: string[] | undefined;
  wishes?: WishesAnswer | undefined;
}

/** Of a value, not of a row: the run as it was stored, or as it could not be stored. */
export async function wholeOf({ run, result }: FinishedRun, now: number): Promise<RunWhole> {
  const { citeByNumber } = await import("../../reports/document/numbered.ts");
  const { report, sources } = citeByNumber(result.report, result.sources);
  const endedAt = run.completedAt ?? now;
  return {
    ...headOf(run, now),
    duration_ms: endedAt - (run.startedAt ?? run.createdAt),
    model: run.model,
    tokens: run.tokens,
    report,
    sources,
    links_expire: sources.map((source) => linkExpiry(source, endedAt)).find((day) => day !== undefined),
    ...(await suggestionLinks(result.searchSuggestions)),
    ...wishesMetadata(wishesIn(run.options), sources),
    ...resultFacts.parse(result.metadata),
  };
}
