/** What the three search operations share: a tracked run around a search, and the figures in its answer. */

import { z } from "zod";
import { costFields } from "../../costs/actual.ts";
import { costSchema } from "./cost-schema.ts";
import { AppError, isErrorCode } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
import { citeByNumber, type CitedReport } from "../../reports/citations/cite-by-number.ts";
import { numberSources, type Source, unique } from "../../reports/report.ts";
import type { StoredRun } from "../../runs/history/read.ts";
import type { RunKind, RunResult } from "../../runs/run.ts";
import { type Finished, type RunStart, type TrackedRun, trackRun } from "../../runs/local/local-run.ts";
import type { SearchCall, SearchDeps } from "../../search/correct-json.ts";
import { INCOMPLETE_NOTE } from "../../search/incomplete-note.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { suggestionLinks, suggestionsField } from "./answer-extras.ts";
import type { Call, OperationDeps } from "../operation.ts";

export interface SearchRun {
  run: TrackedRun;
  search: SearchDeps;
  call: SearchCall;
}

export interface SearchStart extends Pick<RunStart, "taskId" | "stored"> {
  kind: RunKind;
  query: string;
  options: Record<string, unknown>;
}

export async function runSearch<Output>(
  deps: OperationDeps,
  { start, call }: { start: SearchStart; call: Call },
  work: (run: SearchRun) => Promise<Finished<Output>>,
): Promise<Output> {
  const recorder = await deps.recorder();
  const { owner, client, progress, signal, background } = call;
  return trackRun(
    recorder,
    { ...start, owner, client },
    {
      progress,
      onStored: background?.onStored,
      work: async (run) => {
        const search = await deps.search(run.log);
        return work({
          run,
          search,
          call: { signal: AbortSignal.any([signal, run.cancelled]), onActivity: run.activity, onAnswer: run.answered },
        });
      },
    },
  );
}

/** The result of a search as its call answers with it: stored as it came, numbered here. Throws what the call would have. */
export function finishedSearch({ run, result, advice }: StoredRun): RunResult {
  if (run.status === "completed" && result !== undefined) {
    return { ...result, ...citeByNumber(result.report, result.sources) };
  }
  const { taskId, status, error } = run;
  const code = error?.code ?? (status === "cancelled" ? "CANCELLED" : "RESEARCH_FAILED");
  const readable = result === undefined ? undefined : "What was found can be read with get_research_results.";
  throw new AppError({
    code: isErrorCode(code) ? code : "RESEARCH_FAILED",
    message: error?.message ?? (status === "cancelled" ? "The run was cancelled." : "The run ended without a report."),
    suggestion: advice ?? readable,
    run: { task_id: taskId, status },
  });
}

/** As it was stored, and so in the order in which the text tells it; a parsed copy would be in the schema's. */
export function storedMetadata<Metadata>(schema: z.ZodType<Metadata>, metadata: Record<string, unknown>): Metadata {
  const fits = (value: unknown): value is Metadata => schema.safeParse(value).success;
  if (!fits(metadata)) throw new Error("The stored metadata of a run are not those of its kind.");
  return metadata;
}

interface SearchFindings {
  model: string;
  sources: VisitedSource[];
  queries: string[];
  /** Google's Search Suggestions, as HTML, of all rounds. */
  searchSuggestions: string[];
}

type SearchMetadata = z.output<z.ZodObject<typeof searchMetadataFields>>;

interface SearchFigures {
  asked: Record<string, string>;
  findings: Pick<SearchFindings, "model" | "queries" | "searchSuggestions">;
  /** Numbered from 1 without gaps, so that a place in `sources_visited` is a source's number. */
  sources: readonly Source[];
  now: number;
}

/** The metadata that F2, G4 and H1 have in common, in their order. */
export async function searchMetadata(
  run: TrackedRun,
  { asked, findings, sources, now }: SearchFigures,
): Promise<SearchMetadata> {
  const { tokens, cost, notices } = run.figures();
  return {
    task_id: run.taskId,
    duration_ms: now - run.startedAt,
    ...asked,
    model: findings.model,
    timestamp: isoTime(now),
    sources_visited: sources.map(({ url }) => url),
    search_queries_used: unique(findings.queries),
    ...(await suggestionLinks(findings.searchSuggestions)),
    tokens_used: tokens,
    ...costFields(cost),
    ...(notices.length > 0 ? { notices } : {}),
  };
}

/** E9, as it stands in an answer and beside the stored metadata. */
interface IncompleteFields {
  incomplete?: boolean | undefined;
  note?: string | undefined;
}

export const incompleteFields = ({ incomplete }: { incomplete: boolean }): IncompleteFields =>
  incomplete ? { incomplete: true, note: INCOMPLETE_NOTE } : {};

const storedIncomplete = z.object({ incomplete: z.boolean().optional(), note: z.string().optional() });

/** The stored metadata without, and the answer's own fields with, what `incompleteFields` gave. */
export function splitIncomplete(stored: Record<string, unknown>) {
  const { incomplete: _incomplete, note: _note, ...metadata } = stored;
  return { metadata, own: storedIncomplete.catch({}).parse(stored) };
}

export const incompleteSchema = {
  incomplete: z.boolean().describe("The report breaks off."),
  note: z.string(),
};

export const tokensUsed = z
  .looseObject({ input: z.number(), output: z.number() })
  .describe("Tokens as Google counted them.");

export const searchMetadataFields = {
  task_id: z.string(),
  duration_ms: z.number(),
  model: z.string().describe("The model that answered."),
  timestamp: z.string(),
  sources_visited: z.array(z.string()).describe("Pages found or opened; [1] in the report is the first."),
  search_queries_used: z.array(z.string()),
  search_suggestions: suggestionsField.describe("Google asks to show them."),
  tokens_used: tokensUsed,
  ...costSchema,
  notices: z.array(z.string()).optional().describe("Unusual circumstances."),
};

/** U3: one number per page, the same in the answer, in its metadata and wherever the run is read later. */
export const numberedReport = (report: string, visited: VisitedSource[]): CitedReport =>
  citeByNumber(report, numberSources(visited));
