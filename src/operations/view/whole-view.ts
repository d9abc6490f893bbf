/** The whole view of a run: its head and its report, with everything that answers say about the report. */

import { z } from "zod";
import { linkExpiry } from "../../reports/link-expiry.ts";
import type { Source } from "../../reports/report.ts";
import { type Table, tableIn } from "../../reports/table/table.ts";
import { verificationSchema } from "../../reports/verification.ts";
import type { StoredRun } from "../../runs/history/read.ts";
import { knownTokens, type Run, type RunError, type StoredResult } from "../../runs/run.ts";
import { pictureLinks, suggestionLinks, withPictureLinks } from "../parts/answer-text.ts";
import { materialSent, type SentMaterial } from "./sent-material.ts";
import { type WishesAnswer, wishesAnswer, wishesIn, wishesSchema } from "../question/wishes.ts";
import { withUrlsOnce } from "../reading/report-reading.ts";
import { headOf } from "./head-view.ts";
import { costSchema, type RunHead, tokensUsed } from "./run-view.ts";
import type { PictureLink } from "../operation.ts";

/** A round of a deep_search. */
export const roundSchema = z.looseObject({
  round_number: z.number(),
  sources_visited: z.array(z.string()).describe("The sites."),
  source_numbers: z.array(z.number()).describe("The numbers of the pages."),
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
    /** Texts that Google returned before the report. */
    earlier_outputs: z.array(z.string()),
  })
  .partial();

export type ResultFacts = z.output<typeof resultFacts>;

export const factsOf = ({ metadata }: Pick<StoredResult, "metadata">): ResultFacts => resultFacts.parse(metadata);

/** What a run took. */
export const figuresOf = (run: Run, now: number) => ({
  duration_ms: (run.completedAt ?? now) - (run.startedAt ?? run.createdAt),
  mode: run.mode ?? "sync",
  model: run.model,
  tokens: run.tokens,
  /** False until Google has reported what the run used. */
  usage_final: run.usageFinal,
});

/** A run with its report. */
export interface RunWhole extends RunHead, ResultFacts, ReturnType<typeof figuresOf> {
  /** The run ended early: the report is incomplete. */
  partial: boolean;
  /** Markdown that cites its sources by number and links to its pictures. */
  report: string;
  sources: Source[];
  citations?: StoredResult["citations"];
  table?: Table | undefined;
  pictures: PictureLink[];
  /** The last day of the redirect links among the sources. */
  links_expire?: string | undefined;
  /** Markdown links, which Google asks to show. */
  search_suggestions?: string[] | undefined;
  wishes?: WishesAnswer | undefined;
  material?: SentMaterial;
  /** What the caller of the start was told about it. */
  notice?: string | undefined;
  error?: RunError | undefined;
}

/** Of a run that has ended without a text. */
const NO_TEXT: StoredResult = { report: "", sources: [], metadata: {}, partial: false };

interface Reading {
  now: number;
  /** A report that cites by links keeps them: numbers are useless without the list of sources. */
  keepsLinks?: boolean;
}

/** Of a value, not of a row: the run as it was stored, or as it could not be stored. */
export async function wholeOf({ run, result = NO_TEXT }: StoredRun, { now, keepsLinks }: Reading): Promise<RunWhole> {
  const pictured = withPictureLinks(run.taskId, result);
  const keeps = keepsLinks === true && (pictured.citations ?? []).length === 0;
  const { report, sources, citations } = keeps ? pictured : await withUrlsOnce(pictured);
  const { notice } = run.options;
  return {
    ...headOf(run, now),
    ...figuresOf(run, now),
    partial: result.partial,
    report,
    sources,
    citations,
    table: tableIn(result.metadata),
    pictures: pictureLinks(run.taskId, result),
    links_expire: sources
      .map((source) => linkExpiry(source, run.completedAt ?? run.updatedAt))
      .find((day) => day !== undefined),
    search_suggestions: await suggestionLinks(result.searchSuggestions),
    wishes: wishesAnswer(wishesIn(run.options), sources),
    material: materialSent(run),
    notice: typeof notice === "string" ? notice : undefined,
    error: run.error,
    ...factsOf(result),
  };
}

export const sourceSchema = z.looseObject({
  n: z.number(),
  title: z.string(),
  url: z.string(),
  resolved_url: z.string().optional(),
  domain: z.string(),
});

export const resultMetadataSchema = z.looseObject({
  duration_minutes: z.number(),
  tokens_used: tokensUsed.optional(),
  ...costSchema,
  usage_final: z.boolean(),
  estimated_cost_usd: z.number().optional().describe("Until Google has reported the usage."),
  mode: z.string(),
  model: z.string().optional(),
  source_count: z.number(),
  links_expire: z.string().optional().describe("The last day of Google's redirect links among the sources."),
  started_at: z.string(),
  completed_at: z.string().optional(),
  wishes: wishesSchema,
});

type Figures = RunHead & ReturnType<typeof figuresOf> & Pick<Partial<RunWhole>, "sources" | "links_expire" | "wishes">;

/** Duration, cost and origin of a run, for every answer that contains its report (K1). */
export const resultMetadata = ({ sources = [], ...run }: Figures) => ({
  duration_minutes: Math.round(run.duration_ms / 600) / 100,
  tokens_used: knownTokens({ tokens: run.tokens, usageFinal: run.usage_final }),
  cost_usd: run.cost_usd,
  cost_incomplete: run.cost_incomplete,
  cost_estimated: run.cost_estimated,
  usage_final: run.usage_final,
  estimated_cost_usd: run.usage_final ? undefined : run.estimated_usd,
  mode: run.mode,
  model: run.model,
  source_count: sources.length,
  links_expire: run.links_expire,
  started_at: run.started_at ?? run.created_at,
  completed_at: run.completed_at,
  wishes: run.wishes,
});
