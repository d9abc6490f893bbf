/** Runs the searches of search, deep_search and deep_research as stored runs and builds the common parts of their answers. */

import { z } from "zod";
import { costSchema, tokensUsed } from "../view/run-view.ts";
import { type ResultFacts, type RunWhole, wholeOf } from "../view/whole-view.ts";
import type { Budget } from "../../costs/budget.ts";
import { AppError, isErrorCode } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { unexpectedError } from "../../platform/unexpected-error.ts";
import type { NumberedReport } from "../../reports/document/numbered.ts";
import { allWarnings } from "../../reports/gates/result-gates.ts";
import { isRedirect, numberSources, type Source, unique } from "../../reports/report.ts";
import { keepSuggestions } from "../../reports/suggestions/keep.ts";
import type { StoredRun } from "../../runs/history/read.ts";
import {
  type Finished,
  type FinishedRun,
  type RunRecorder,
  type RunStart,
  type TrackedRun,
  trackRun,
} from "../../runs/local/local-run.ts";
import { nextAfterPartial } from "../../runs/run.ts";
import type { Research, SearchCall, SearchDeps } from "../../search/correct-json.ts";
import { incompleteNote } from "../../search/incomplete-note.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { joinNotes, suggestionsField } from "./answer-text.ts";
import { maxRequestUsd, refuseAboveBudget } from "./cost-confirmation.ts";
import type { Call, OperationDeps } from "../operation.ts";
import type { Wishes } from "../../search/wishes.ts";
import { wishesSchema } from "../question/wishes.ts";

/** A stored run together with what the search in it needs. */
interface SearchRun {
  run: TrackedRun;
  search: SearchDeps;
  call: SearchCall;
}

export interface SearchStart extends Omit<RunStart, "owner" | "client"> {
  /** Of the continuation of a search of a schedule. */
  ofSchedule?: Budget | undefined;
}

/** Stores a run, runs `work` in it and stores how it ended. */
export async function trackSearch(
  deps: OperationDeps,
  { start, call }: { start: SearchStart; call: Call },
  work: (tracked: SearchRun) => Promise<Finished>,
): Promise<FinishedRun> {
  // Before a run is stored: what was never sent is not a failed run.
  if (start.stored !== true) {
    const obstacle = await deps.searchObstacle();
    if (obstacle !== undefined) throw obstacle;
    await refuseAboveBudget(deps, call);
  }
  const { owner, client, progress, draft: onDraft, signal, onRunCreated } = call;
  const inRun = async (run: TrackedRun): Promise<Finished> => {
    const either = AbortSignal.any([signal, run.cancelled]);
    const search = await deps.search(run.log);
    const { activity: onActivity, phase: onRoundStart, asks: onAsk } = run;
    return work({ run, search, call: { signal: either, onActivity, onDraft, onRoundStart, onAsk } });
  };
  const { recorder, ...scheduled } = await claimIfScheduled(deps, { start, call });
  return trackRun(
    recorder,
    { ...start, owner, client, taskId: start.taskId ?? call.newTaskId, ...scheduled },
    { progress, onStored: onRunCreated, work: inRun },
  );
}

/** The search of a schedule is stored with the claim of its occurrence, and spends what is left of its budget at most. */
async function claimIfScheduled(
  deps: OperationDeps,
  { start, call: { occurrence, owner, client } }: { start: SearchStart; call: Call },
): Promise<{ recorder: RunRecorder } & Pick<SearchStart, "taskId" | "stored">> {
  const recorder = await deps.recorder();
  const within = (schedule: Budget): RunRecorder => ({ ...recorder, budgets: { ...recorder.budgets, schedule } });
  if (start.ofSchedule !== undefined) return { recorder: within(start.ofSchedule) };
  if (occurrence === undefined) return { recorder };
  const { beginScheduledSearch } = await import("../../runs/schedules/schedule-store.ts");
  const { db, processId, clock } = recorder;
  const taskId = crypto.randomUUID();
  const run = { ...start, taskId, owner, client, parentTaskId: undefined, processId, now: clock.now() };
  const hard = await beginScheduledSearch(db, { run, occurrence, maxUsd: await maxRequestUsd(deps) });
  return { recorder: within({ hard }), taskId, stored: true };
}

interface SingleRound {
  start: SearchStart;
  wishes?: Wishes | undefined;
  search: (deps: SearchDeps, call: SearchCall) => Promise<Research>;
}

/** A search of one round; its report is stored with its links, and shown with numbers. */
export function runSingleRound(
  deps: OperationDeps,
  call: Call,
  { start, wishes, search }: SingleRound,
): Promise<FinishedRun> {
  return trackSearch(deps, { start, call }, async (tracked) => {
    const findings = await search(tracked.search, tracked.call);
    const { model, supports } = findings;
    const written = findings.answer.report ?? "";
    const { sources, warnings } = await examined({ ...start, written, findings, wishes }, tracked.run.log);
    const facts: ResultFacts = {
      ...searchFacts(tracked.run, findings),
      ...(findings.incomplete === false ? {} : { incomplete: true }),
      note: joinNotes([cutNote(findings), ...warnings]),
    };
    return {
      result: {
        report: written,
        sources,
        metadata: facts,
        hasWarning: warnings.length > 0,
        partial: false,
        searchSuggestions: keepSuggestions(findings.searchSuggestions),
        supports,
      },
      model,
    };
  });
}

/** A defect of a check must not cost the answer that was paid for. */
async function examined(
  { query, written, findings: { sources: visited, isGrounded }, wishes }: Examined,
  log: Log,
): Promise<{ sources: Source[]; warnings: string[] }> {
  try {
    const { report, sources } = await numberedReport(written, visited);
    return { sources, warnings: allWarnings({ report, question: query, language: wishes?.language, isGrounded }) };
  } catch (error) {
    const { id, message } = unexpectedError(error);
    log.error(message);
    const unchecked = `The answer could not be checked (unexpected error ${id}; see the log). It is kept as it is.`;
    return { sources: numberSources(visited), warnings: [unchecked] };
  }
}

interface Examined extends Pick<SearchStart, "query"> {
  written: string;
  findings: Pick<Research, "isGrounded" | "sources">;
  wishes: Wishes | undefined;
}

/** What a search stores beside its report. */
export function searchFacts(run: TrackedRun, { queries }: Pick<Research, "queries">): ResultFacts {
  const { notices } = run.figures();
  return { search_queries_used: unique(queries), ...(notices.length > 0 ? { notices } : {}) };
}

/** A finished search, and the numbers of the sources that its report cites. */
export interface FinishedSearch extends RunWhole {
  cited: ReadonlySet<number>;
}

/** The view of a finished search; throws the error of a search that failed. */
export async function finishedSearch({ clock }: OperationDeps, { run, result }: StoredRun): Promise<FinishedSearch> {
  if (run.status === "completed" && result !== undefined) {
    const whole = await wholeOf({ run, result }, { now: clock.now() });
    const { citedNumbers } = await import("../../reports/document/numbered.ts");
    const { numberedDocument } = await import("../../reports/document/document.ts");
    return { ...whole, cited: citedNumbers(numberedDocument(whole.report, whole.sources)) };
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

/** The metadata that the three searches have in common (F2, G4, H1), in their order. */
export const searchMetadata = <Asked extends Record<string, string>>(run: FinishedSearch, asked: Asked) => ({
  task_id: run.task_id,
  duration_ms: run.duration_ms,
  ...asked,
  wishes: run.wishes,
  model: run.model ?? "",
  timestamp: run.completed_at ?? run.created_at,
  ...listedSources(run),
  search_queries_used: run.search_queries_used ?? [],
  search_suggestions: run.search_suggestions,
  tokens_used: run.tokens,
  cost_usd: run.cost_usd,
  cost_incomplete: run.cost_incomplete,
  cost_estimated: run.cost_estimated,
  notices: run.notices,
});

/**
 * Sources as the answer of a search lists them: addresses by position, and beside them the titles and sites of those
 * that the report cites. A redirect link that is not cited is left out: it takes more room than a sentence of the report,
 * expires, and hides where it leads. Those have the highest numbers.
 */
function listedSources({ sources, cited, links_expire: expires }: FinishedSearch) {
  const isListed = ({ n, url, resolved_url: resolved }: Source): boolean =>
    cited.size === 0 || cited.has(n) || resolved !== undefined || !isRedirect(url);
  const last = sources.findLastIndex(isListed);
  const shown = sources.slice(0, last + 1);
  const left = sources.length - shown.length;
  const addresses = shown.map(({ url, resolved_url: resolved }) => resolved ?? url);
  return {
    sources_cited: shown.filter(({ n }) => cited.has(n)).map(({ n, title, domain }) => ({ n, title, site: domain })),
    // Numbered from 1 without gaps: a position is the number of the source.
    sources_visited: addresses,
    sources_left_out: left === 0 ? undefined : left,
    links_expire: addresses.some(isRedirect) ? expires : undefined,
  };
}

/** Says that a report breaks off (E9). */
export const cutNote = ({ incomplete }: Pick<Research, "incomplete">): string | undefined =>
  incomplete === false ? undefined : incompleteNote(incomplete);

export const incompleteSchema = {
  incomplete: z.boolean().describe("The report breaks off."),
  note: z.string(),
};

export const searchMetadataFields = {
  task_id: z.string(),
  duration_ms: z.number(),
  wishes: wishesSchema,
  model: z.string().describe("The model that answered."),
  timestamp: z.string(),
  sources_cited: z
    .array(z.looseObject({ n: z.number(), title: z.string(), site: z.string() }))
    .describe("What [n] in the report refers to; the address is at position n of sources_visited."),
  sources_visited: z.array(z.string()).describe("Pages found or opened; [1] in the report is the first."),
  sources_left_out: z
    .number()
    .optional()
    .describe("Redirect links that the report does not cite; get_research_results lists them."),
  links_expire: z.string().optional().describe("The last day of Google's redirect links."),
  search_queries_used: z.array(z.string()),
  search_suggestions: suggestionsField.describe("Google asks to show them."),
  tokens_used: tokensUsed,
  ...costSchema,
  notices: z.array(z.string()).optional().describe("Unusual circumstances."),
};

/** Numbers the sources by their first use, one number per web page, as answer, metadata and later readers use them (U3). */
export async function numberedReport(report: string, visited: VisitedSource[]): Promise<NumberedReport> {
  const { citeByUse } = await import("../../reports/document/numbered.ts");
  return citeByUse(report, visited);
}
