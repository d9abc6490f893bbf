/** `get_research_results`: returns a stored report, whole, in sections, or partial. */

import { z } from "zod";
import { costFields } from "../costs/actual.ts";
import { AppError } from "../errors.ts";
import { adviceWithoutReport, optionsAfterUnknownStart } from "./parts/after-failure.ts";
import { isoTime } from "../platform/clock.ts";
import type { Source } from "../reports/report.ts";
import { isFinished, type Run, type RunResult, type StoredResult } from "../runs/run.ts";
import { keepsPartial } from "../runs/cancel/cancel-store.ts";
import { readStored } from "../runs/history/read.ts";
import type { Database } from "../store/database.ts";
import {
  pictureField,
  pictureLines,
  picturesIn,
  suggestionLines,
  suggestionLinks,
  suggestionsField,
  withPictureLinks,
} from "./parts/answer-extras.ts";
import { factLines, list } from "./parts/answer-text.ts";
import { checkedCitations, citationsCheckedField } from "./citations/checked-citations.ts";
import { costSchema } from "./parts/cost-schema.ts";
import { conversationFields, conversationLines, conversationOf } from "./followup/conversation.ts";
import { materialField, materialIn, materialLines } from "./parts/material.ts";
import {
  type Call,
  defineOperation,
  type OperationDeps,
  outputSchema,
  type OutputOf,
  taskIdField,
} from "./operation.ts";
import { NO_PLAN, planAnswer, planFields } from "./parts/plan.ts";
import { outlineLines, readingFields, readReport, reportLimit } from "./parts/report-reading.ts";
import { tokensUsed } from "./parts/search-run.ts";
import { wishesIn, wishesMetadata, wishesSchema, withWishNote } from "./question/wishes.ts";

export const sourceSchema = z.looseObject({
  n: z.number(),
  title: z.string(),
  url: z.string(),
  resolved_url: z.string().optional(),
  domain: z.string(),
});

export const resultMetadataSchema = z.looseObject({
  duration_minutes: z.number(),
  tokens_used: tokensUsed,
  ...costSchema,
  usage_final: z.boolean(),
  mode: z.string(),
  model: z.string().optional(),
  source_count: z.number(),
  started_at: z.string(),
  completed_at: z.string().optional(),
  wishes: wishesSchema,
});

/** Duration, cost and origin of a run, for every answer that contains its report (K1). */
export function resultMetadata(run: Run, sourceCount: number, now: number) {
  const started = run.startedAt ?? run.createdAt;
  return {
    duration_minutes: Math.round(((run.completedAt ?? now) - started) / 600) / 100,
    tokens_used: run.tokens,
    ...costFields(run.cost),
    usage_final: run.usageFinal,
    mode: run.mode ?? "sync",
    model: run.model,
    source_count: sourceCount,
    started_at: isoTime(started),
    completed_at: run.completedAt === undefined ? undefined : isoTime(run.completedAt),
  };
}

/** Google often gives the domain as the title. */
export const sourceLine = ({ n, title, domain, url, resolved_url }: Source): string =>
  `${n}. ${title === domain ? title : `${title} (${domain})`}: ${resolved_url ?? url}`;

export const getResearchResults = defineOperation({
  name: "get_research_results",
  title: "Get research results",
  description:
    "Returns the stored report of a run: in full, or as far as it got (partial) if it failed or was cancelled. For completed runs and lost calls, not for unfinished runs. A report over 100,000 characters comes as its opening and an outline: read on with section. Free, instant, local. Returns report, numbered sources and figures.",
  input: z.strictObject({
    task_id: taskIdField,
    include_sources: z
      .boolean({ error: "include_sources must be true or false." })
      .default(true)
      .describe("Whether the sources are returned."),
    section: z
      .string({ error: "section must be a string." })
      .trim()
      .min(1, { error: "section must not be empty." })
      .max(40, { error: "This report has no such section." })
      .optional()
      .describe("outline, all, sources, or one of the outline such as 2.1; 2.1~2 is the second part of a long one."),
  }),
  output: outputSchema({
    partial: z.boolean().describe("True when the run did not finish."),
    query: z.string(),
    ...planFields,
    report: z.string().describe("The report in Markdown, or the requested part."),
    ...readingFields,
    verified: z.boolean().describe("Of a deep_search: whether it was verified."),
    verified_in_round: z.number(),
    citations_checked: citationsCheckedField,
    note: z.string().describe("What is special about the report, or how to read on."),
    pictures: pictureField,
    search_suggestions: suggestionsField,
    ...conversationFields,
    sources: z.array(sourceSchema),
    material: materialField,
    metadata: resultMetadataSchema,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  run: async (deps, input, call) => {
    const db = await deps.database();
    const { run, result } = await readStored(db, call.owner, input.task_id);
    const plan = result === undefined ? await planAnswer(deps, call, run) : NO_PLAN;
    if (plan.plan !== undefined) return { ...unapproved(run, deps.clock.now()), ...plan };
    if (result === undefined || !isFinished(run.status)) {
      const backup = deps.backupOf(run.taskId);
      throw backup === undefined ? withoutText(run, await wasDiscarded(db, run)) : refusedByDatabase(run, backup);
    }
    return reportAnswer(deps, call, { run, result, input });
  },
  webText: true,
  picturesOf: ({ task_id, pictures = [] }) => ({ taskId: task_id, links: pictures }),
  toText: ({
    report,
    plan,
    outline,
    sources = [],
    metadata,
    pictures,
    search_suggestions,
    material,
    success: _success,
    ...others
  }) => {
    const { context, follow_up_of, follow_ups, ...rest } = others;
    const { duration_minutes, source_count, cost_usd, ...figures } = withWishNote(metadata);
    return [
      ...(report === undefined ? [] : [report.trim()]),
      ...(plan === undefined ? [] : [plan]),
      ...outlineLines(outline),
      ...pictureLines(pictures),
      ...list("Sources", sources.map(sourceLine)),
      ...suggestionLines(search_suggestions),
      ...conversationLines({ context, follow_up_of, follow_ups }),
      ...materialLines(material),
      // What a person must see comes last: some clients show only the last three lines.
      factLines({ ...figures, ...rest, source_count, duration_minutes, cost_usd }),
    ].join("\n\n");
  },
});

interface Reading {
  run: Run;
  result: StoredResult;
  input: { include_sources: boolean; section?: string | undefined };
}

async function reportAnswer(deps: OperationDeps, call: Call, { run, result, input }: Reading) {
  const { sources, ...reading } = readReport(withPictureLinks(run.taskId, result), {
    section: input.section,
    maxCharacters: reportLimit(deps, call),
    sources: input.include_sources ? "returned" : "left out",
  });
  return {
    success: true,
    task_id: run.taskId,
    ...NO_PLAN,
    ...(result.partial ? { partial: true, status: run.status } : {}),
    query: run.query,
    ...reading,
    ...verification(result, [result.partial ? howItEnded(run) : undefined, noticeOf(run), reading.note]),
    ...(await checkedCitations(await deps.database(), { taskId: run.taskId, report: result.report })),
    ...picturesIn(run.taskId, result, reading.report),
    ...(await suggestionLinks(result.searchSuggestions)),
    ...(input.section === undefined ? await conversationOf(await deps.database(), run) : {}),
    sources: input.include_sources && input.section !== "outline" ? sources : undefined,
    ...materialIn(run),
    metadata: {
      ...resultMetadata(run, result.sources.length, deps.clock.now()),
      ...wishesMetadata(wishesIn(run.options), result.sources),
    },
  };
}

type ReportAnswer = Awaited<ReturnType<typeof reportAnswer>>;
type Unapproved = Partial<ReportAnswer> & Pick<ReportAnswer, "success" | "task_id" | "query" | "metadata">;

/** A plan instead of a report: the research was not started. */
const unapproved = (run: Run, now: number): Unapproved => ({
  success: true,
  task_id: run.taskId,
  status: run.status,
  query: run.query,
  ...(run.error === undefined ? {} : { note: run.error.message }),
  metadata: resultMetadata(run, 0, now),
});

function verification({ metadata }: RunResult, more: (string | undefined)[]): Verification {
  const { verified, verified_in_round: round } = metadata;
  const earlier = metadata["earlier_outputs"] === undefined ? undefined : HAS_EARLIER;
  const notes = [metadata["note"], earlier, ...more].filter((note) => typeof note === "string");
  return {
    ...(typeof verified === "boolean" ? { verified } : {}),
    ...(typeof round === "number" ? { verified_in_round: round } : {}),
    ...(notes.length > 0 ? { note: notes.join(" ") } : {}),
  };
}

interface Verification {
  verified?: boolean;
  verified_in_round?: number;
  note?: string;
}

/** Which part of the report a follow-up was given, if not all of it. */
function noticeOf({ followupContext, options: { notice } }: Run): string | undefined {
  return followupContext !== undefined && typeof notice === "string" ? notice : undefined;
}

/** Why the report is partial, in our own words (K2). */
function howItEnded({ status, error }: Run): string | undefined {
  if (status === "cancelled") return "The run was cancelled before its report was complete.";
  if (error === undefined) return undefined;
  return `The run failed before its report was complete (${error.code}): ${error.message}`;
}

/** Whether the run was cancelled with save_partial false. */
export async function wasDiscarded(db: Database, { status, taskId }: Run): Promise<boolean> {
  return status === "cancelled" && !(await keepsPartial(db, taskId));
}

const HAS_EARLIER = "Google also wrote texts before this report: ask for section earlier to read them.";

/** The run has ended at Google, but the stored run is still unfinished. */
const refusedByDatabase = (run: Run, backup: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The research has ended, but the database refused its report. It is kept in ${backup}.`,
    suggestion:
      "Read that file. The report is stored here as soon as the database can be written: check the disk space.",
    details: { backup_file: backup },
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });

export function withoutText(run: Run, isDiscarded: boolean): AppError {
  const about = { task_id: run.taskId, status: run.status, progress: run.progress };
  if (run.status === "failed") {
    return new AppError({
      code: "RESEARCH_FAILED",
      message: `This run failed before producing any text. ${run.error?.message ?? ""}`.trim(),
      suggestion: `${adviceWithoutReport(run)}${run.plan?.isPlanning === false ? " check_research_status returns its plan." : ""}`,
      details: { reason: run.error?.code },
      run: about,
    });
  }
  if (isFinished(run.status)) {
    return new AppError({
      code: "RESEARCH_NOT_COMPLETED",
      message: isDiscarded ? DISCARDED : "This run was cancelled before it had any text.",
      suggestion: adviceWithoutReport(run),
      run: about,
    });
  }
  return new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    ...(run.status === "pending" || run.status === "awaiting_approval" ? UNFINISHED[run.status] : UNFINISHED.running),
    ...(run.status === "start_unknown" ? { message: NO_REPORT, suggestion: optionsAfterUnknownStart(run) } : {}),
    // The agent's action is text of a model that has read the web; check_research_status returns it with a caution.
    details: run.kind === "agent" ? {} : { current_action: run.currentAction },
    run: about,
  });
}

export const DISCARDED = "This run was cancelled with save_partial false, so nothing was kept.";

const UNFINISHED = {
  running: { message: "This run is still in progress.", suggestion: "Try again in a moment." },
  pending: { message: "Google has not accepted this research yet.", suggestion: "Try again in a moment." },
  awaiting_approval: {
    message: "This run has no report yet: its plan waits for approval.",
    suggestion: "resume_research with approve true starts the research, which is charged.",
  },
};

const NO_REPORT = "It is not known whether Google started this research, so there is no report.";
export type Results = OutputOf<typeof getResearchResults>;
