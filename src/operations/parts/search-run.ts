/** Runs the searches of search, deep_search and deep_research as stored runs and builds the common parts of their answers. */

import { z } from "zod";
import { costFields } from "../../costs/actual.ts";
import { costSchema } from "../view/run-view.ts";
import { AppError, isErrorCode } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
import type { NumberedReport } from "../../reports/document/numbered.ts";
import { allWarnings } from "../../reports/gates/result-gates.ts";
import { numberSources, type Source, unique } from "../../reports/report.ts";
import { linkExpiry } from "../../reports/link-expiry.ts";
import { keepSuggestions } from "../../reports/suggestions/keep.ts";
import type { StoredRun } from "../../runs/history/read.ts";
import type { RunResult } from "../../runs/run.ts";
import {
  type Finished,
  nextAfterPartial,
  type RunStart,
  type TrackedRun,
  trackRun,
} from "../../runs/local/local-run.ts";
import type { Research, SearchCall, SearchDeps } from "../../search/correct-json.ts";
import { incompleteNote } from "../../search/incomplete-note.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { suggestionLinks, suggestionsField } from "./answer-extras.ts";
import type { Call, OperationDeps } from "../operation.ts";
import type { Wishes } from "../../search/wishes.ts";
import { wishesMetadata, wishesSchema } from "../question/wishes.ts";

/** A stored run together with what the search in it needs. */
export interface SearchRun {
  run: TrackedRun;
  search: SearchDeps;
  call: SearchCall;
}

export type SearchStart = Omit<RunStart, "owner" | "client">;

/** Stores a run, runs `work` in it and stores how it ended. */
export async function trackSearch<Output>(
  deps: OperationDeps,
  { start, call }: { start: SearchStart; call: Call },
  work: (tracked: SearchRun) => Promise<Finished<Output>>,
): Promise<Output> {
  // Before a run is stored: what was never sent is not a failed run.
  const obstacle = start.stored === true ? undefined : await deps.searchObstacle();
  if (obstacle !== undefined) throw obstacle;
  const { owner, client, progress, signal, onRunCreated } = call;
  const inRun = async (run: TrackedRun): Promise<Finished<Output>> => {
    const either = AbortSignal.any([signal, run.cancelled]);
    const search = await deps.search(run.log);
    const { activity: onActivity, phase: onRoundStart, answered: onAnswer } = run;
    return work({ run, search, call: { signal: either, onActivity, onRoundStart, onAnswer } });
  };
  return trackRun(
    await deps.recorder(),
    { ...start, owner, client, taskId: start.taskId ?? call.newTaskId },
    { progress, onStored: onRunCreated, work: inRun },
  );
}

interface SingleRound<Asked> {
  start: SearchStart;
  /** The input, as the metadata repeat it. */
  asked: Asked;
  wishes?: Wishes | undefined;
  search: (deps: SearchDeps, call: SearchCall) => Promise<Research>;
}

/** The answer of a search of one round; the report is stored with its links and returned with numbers. */
export function runSingleRound<Asked extends Record<string, string>>(
  deps: OperationDeps,
  call: Call,
  { start, asked, wishes, search }: SingleRound<Asked>,
) {
  return trackSearch(deps, { start, call }, async (tracked) => {
    const findings = await search(tracked.search, tracked.call);
    const { report, sources } = await numberedReport(findings.answer.report ?? "", findings.sources);
    const metadata = await searchMetadata(tracked.run, { asked, wishes, findings, sources, now: deps.clock.now() });
    const { incomplete, note: cut } = incompleteFields(findings);
    const { isGrounded } = findings;
    const [question = ""] = Object.values(asked);
    const warnings = allWarnings({ report, question, language: wishes?.language, isGrounded });
    const marks: IncompleteFields = { incomplete, note: joinNotes([cut, ...warnings]) };
    return {
      output: { report, ...marks, metadata },
      result: {
        report: findings.answer.report ?? "",
        sources,
        metadata: { ...metadata, ...marks },
        hasWarning: warnings.length > 0,
        partial: false,
        searchSuggestions: keepSuggestions(findings.searchSuggestions),
        supports: findings.supports,
      },
      model: findings.model,
    };
  });
}

/** The same answer, read from the stored run. */
export async function storedSingleRound<Metadata>(stored: StoredRun, schema: z.ZodType<Metadata>) {
  const { report, metadata } = await finishedSearch(stored);
  const { incomplete: _incomplete, note: _note, ...rest } = metadata;
  return { report, ...storedIncomplete.catch({}).parse(metadata), metadata: storedMetadata(schema, rest) };
}

/** The result of a finished search, with numbered citations; throws the error of a search that failed. */
export async function finishedSearch({ run, result }: StoredRun): Promise<RunResult> {
  if (run.status === "completed" && result !== undefined) {
    const { citeByNumber } = await import("../../reports/document/numbered.ts");
    return { ...result, ...citeByNumber(result.report, result.sources) };
  }
  const { taskId, status, error, kind } = run;
  const code = error?.code ?? (status === "cancelled" ? "CANCELLED" : "RESEARCH_FAILED");
  throw new AppError({
    code: isErrorCode(code) ? code : "RESEARCH_FAILED",
    message: error?.message ?? (status === "cancelled" ? "The run was cancelled." : "The run ended without a report."),
    suggestion: error?.suggestion,
    next: result === undefined ? [] : nextAfterPartial(kind),
    run: { task_id: taskId, status },
  });
}

/** The metadata as stored, which keeps their order in the text; parsing would put them into the order of the schema. */
export function storedMetadata<Metadata>(schema: z.ZodType<Metadata>, metadata: Record<string, unknown>): Metadata {
  const fits = (value: unknown): value is Metadata => schema.safeParse(value).success;
  if (!fits(metadata)) throw new Error("The stored metadata of a run are not those of its kind.");
  return metadata;
}

type SearchMetadata = z.output<z.ZodObject<typeof searchMetadataFields>>;

interface SearchFigures<Asked> {
  asked: Asked;
  wishes?: Wishes | undefined;
  findings: Pick<Research, "model" | "queries" | "searchSuggestions">;
  /** Numbered from 1 without gaps: a position in `sources_visited` is the number of the source. */
  sources: readonly Source[];
  now: number;
}

/** The metadata that the three searches have in common (F2, G4, H1), in their order. */
export async function searchMetadata<Asked extends Record<string, string>>(
  run: TrackedRun,
  { asked, wishes, findings, sources, now }: SearchFigures<Asked>,
): Promise<SearchMetadata & Asked> {
  const { tokens, cost, notices } = run.figures();
  return {
    task_id: run.taskId,
    duration_ms: now - run.startedAt,
    ...asked,
    ...wishesMetadata(wishes, sources),
    model: findings.model,
    timestamp: isoTime(now),
    sources_visited: sources.map(({ url }) => url),
    ...linksExpire(sources, now),
    search_queries_used: unique(findings.queries),
    ...(await suggestionLinks(findings.searchSuggestions)),
    tokens_used: tokens,
    ...costFields(cost),
    ...(notices.length > 0 ? { notices } : {}),
  };
}

/** The last day of the redirect links among the sources. */
function linksExpire(sources: readonly Source[], now: number): { links_expire?: string } {
  const day = sources.map((source) => linkExpiry(source, now)).find((each) => each !== undefined);
  return day === undefined ? {} : { links_expire: day };
}

/** Marks a report that breaks off (E9), in an answer and beside the stored metadata. */
interface IncompleteFields {
  incomplete?: boolean | undefined;
  note?: string | undefined;
}

export const incompleteFields = ({ incomplete }: Pick<Research, "incomplete">): IncompleteFields =>
  incomplete === false ? {} : { incomplete: true, note: incompleteNote(incomplete) };

/** One text of all notes; undefined if there are none. */
export function joinNotes(notes: readonly (string | undefined)[]): string | undefined {
  const known = notes.filter((note) => note !== undefined);
  return known.length === 0 ? undefined : known.join(" ");
}

const storedIncomplete = z.object({ incomplete: z.boolean().optional(), note: z.string().optional() });

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
  wishes: wishesSchema,
  model: z.string().describe("The model that answered."),
  timestamp: z.string(),
  sources_visited: z.array(z.string()).describe("Pages found or opened; [1] in the report is the first."),
  links_expire: z.string().optional().describe("The last day of Google's redirect links."),
  search_queries_used: z.array(z.string()),
  search_suggestions: suggestionsField.describe("Google asks to show them."),
  tokens_used: tokensUsed,
  ...costSchema,
  notices: z.array(z.string()).optional().describe("Unusual circumstances."),
};

/** Numbers the sources, one number per web page, as answer, metadata and later readers use them (U3). */
export async function numberedReport(report: string, visited: VisitedSource[]): Promise<NumberedReport> {
  const { citeByNumber } = await import("../../reports/document/numbered.ts");
  return citeByNumber(report, numberSources(visited));
}
