/** `get_research_results`: returns a stored report, whole, in sections, or partial. */

import { z } from "zod";
import { laterConflicts } from "../claims/evidence.ts";
import { backupOf, refusedByDatabase, withoutText } from "./parts/after-failure.ts";
import { verificationSchema } from "../reports/verification.ts";
import { isFinished, type Run, type StoredResult } from "../runs/run.ts";
import { readStored } from "../runs/history/read.ts";
import {
  joinNotes,
  pictureField,
  picturesIn,
  reportText,
  suggestionsField,
  verificationText,
} from "./parts/answer-text.ts";
import { checkedCitations, citationsCheckedField, conflictLines } from "./citations/verify-citations.ts";
import { headOf } from "./view/head-view.ts";
import {
  figuresOf,
  resultMetadata,
  resultMetadataSchema,
  type RunWhole,
  sourceSchema,
  wholeOf,
} from "./view/whole-view.ts";
import { type Conversation, conversationFields, conversationOf } from "./followup/conversation.ts";
import { materialField } from "./view/sent-material.ts";
import {
  type Call,
  defineOperation,
  flagField,
  type OperationDeps,
  type OutputOf,
  outputSchema,
  taskIdField,
} from "./operation.ts";
import { NO_PLAN, planAnswer, planFields } from "./parts/plan.ts";
import { fitAnswer, limitOf, readingFields, readReport, type Room } from "./reading/report-reading.ts";
import { asTable, columnsField, finishedTable, notMade, tableFields } from "./parts/table.ts";
import { withWishNote } from "./question/wishes.ts";

export const getResearchResults = defineOperation({
  name: "get_research_results",
  title: "Get research results",
  description:
    "Deep research results: returns the stored report of a run with its sources; of a failed or cancelled run as far as it got (partial). For completed runs and lost calls. A long one comes as its beginning and an outline: read on with section. Free, local.",
  input: z.strictObject({
    task_id: taskIdField,
    include_sources: flagField("include_sources").default(true).describe("Whether the sources are returned."),
    section: z
      .string({ error: "{section} must be a string." })
      .trim()
      .min(1, { error: "{section} must not be empty." })
      .max(40, { error: "This report has no such section." })
      .optional()
      .describe("next_section, outline, sources, one such as 2.1, or all."),
    as: z.enum(["table"], { error: "{as} must be table." }).optional().describe("As a table."),
    columns: columnsField.describe("Of the table."),
  }),
  output: outputSchema({
    partial: z.boolean().describe("True when the run did not finish."),
    query: z.string(),
    ...planFields,
    report: z.string().describe("The report in Markdown, or the requested part."),
    ...tableFields,
    ...readingFields,
    verified: z.boolean().describe("Of a deep_search: whether it was verified."),
    verified_in_round: z.number(),
    verification: verificationSchema,
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
    const wanted = await wantedRun(deps, call, input);
    if ("note" in wanted) return wanted;
    const { run, result } = await readStored(db, call.owner, wanted.taskId);
    const plan = result === undefined && run.part === "plan" ? await planAnswer(deps, call, { run }) : NO_PLAN;
    if (plan.plan !== undefined) return { ...withoutReport(run, deps.clock.now()), ...plan };
    if (result === undefined || !isFinished(run.status)) {
      const backup = backupOf(deps, run);
      throw backup === undefined ? await withoutText(db, run) : refusedByDatabase(run, backup);
    }
    return reportAnswer(deps, call, { run, result, input });
  },
  webText: ["report", "table", "outline", "plan", "citations_checked"],
  picturesOf: ({ task_id, pictures = [] }) => ({ taskId: task_id, links: pictures }),
  toText: (output) => resultsText(output),
});

function resultsText({ success: _success, metadata, verification, ...answer }: WithoutReport): string {
  const { report, table, plan, outline, sources, pictures, search_suggestions, material, ...others } = answer;
  const { context, follow_up_of, follow_ups, next_step, citations_checked: checked, ...rest } = others;
  const { conflicts: _conflicts, ...counts } = checked ?? {};
  const conversation = { context, follow_up_of, follow_ups };
  const conflicts = conflictLines(checked);
  const citations_checked = checked === undefined ? undefined : counts;
  const { duration_minutes, source_count, cost_usd, ...figures } = withWishNote(metadata);
  return reportText(
    { report, table, plan, outline, sources, pictures, search_suggestions, conversation, material, conflicts },
    // What a person must see comes last: some clients show only the last three lines.
    { ...figures, source_count, duration_minutes, cost_usd, next_step },
    // A client that cuts an answer cuts its end.
    {
      ...rest,
      ...(rest.verified === true ? { verified: `true${laterConflicts(checked?.conflict)}` } : {}),
      citations_checked,
      verification: verificationText(verification),
    },
  );
}

type Input = { task_id: string; as?: "table" | undefined; columns?: string[] | undefined };

/** The run to read: the given one, the run that made a table of it, or the answer that there is no such table. */
async function wantedRun(deps: OperationDeps, call: Call, input: Input) {
  const { task_id: taskId } = input;
  if (input.as === undefined && input.columns === undefined) return { taskId };
  const made = await finishedTable(deps, call, input);
  if (made !== undefined) return { taskId: made.taskId };
  const { run, ...offer } = await notMade(deps, call, input);
  return { ...withoutReport(run, deps.clock.now()), ...NO_PLAN, ...offer };
}

interface Reading {
  run: Run;
  result: StoredResult;
  input: { include_sources: boolean; section?: string | undefined };
}

async function reportAnswer(deps: OperationDeps, call: Call, { run, result, input }: Reading): Promise<ReportAnswer> {
  const db = await deps.database();
  const limit = limitOf(call);
  const parts: AnswerParts = {
    run: await wholeOf({ run, result }, { now: deps.clock.now(), keepsLinks: !input.include_sources }),
    // A program that would cut the whole report gets what it accepts.
    section: input.section === "all" && limit.sizeOf !== undefined ? undefined : input.section,
    includeSources: input.include_sources,
    citations: await checkedCitations(db, { taskId: run.taskId, report: result.report }),
    conversation: input.section === undefined ? await conversationOf(db, run) : {},
  };
  return fitAnswer(limit, { build: (room) => answerWith(parts, room), toText: resultsText });
}

interface AnswerParts {
  run: RunWhole;
  section: string | undefined;
  includeSources: boolean;
  citations: Awaited<ReturnType<typeof checkedCitations>>;
  conversation: Conversation;
}

const HAS_EARLIER = "Google also wrote texts before this report: ask for section earlier to read them.";

function answerWith({ run, section, includeSources, citations, conversation }: AnswerParts, room: Room) {
  const { sources, note: howToRead, ...read } = readReport(run, { section, ...room });
  // What the answer with the beginning has said is not repeated with each piece.
  const isPiece = section !== undefined && section !== "all";
  const { table, ...reading } = asTable(run.table, read);
  const note = joinNotes([
    run.note,
    run.earlier_outputs === undefined ? undefined : HAS_EARLIER,
    run.partial ? howItEnded(run) : undefined,
    // Which part of the report a follow-up was given, if not all of it.
    run.followup_context === undefined ? undefined : run.notice,
    howToRead,
  ]);
  return {
    success: true,
    task_id: run.task_id,
    ...NO_PLAN,
    ...(run.partial ? { partial: true, status: run.status } : {}),
    query: run.query,
    note_of_user: run.note_of_user,
    verified: run.verified,
    verified_in_round: run.verified_in_round,
    verification: run.verification,
    note,
    table,
    ...reading,
    pictures: picturesIn(run.pictures, read.report),
    citations_checked: citations,
    search_suggestions: isPiece ? undefined : run.search_suggestions,
    ...conversation,
    sources: includeSources && section !== "outline" ? sources : undefined,
    material: isPiece ? undefined : run.material,
    metadata: resultMetadata(run),
  };
}

type ReportAnswer = ReturnType<typeof answerWith>;
type Undefinable<Given> = { [Key in keyof Given]?: Given[Key] | undefined };
type WithoutReport = Undefinable<ReportAnswer> & Pick<ReportAnswer, "success" | "task_id" | "query" | "metadata">;

/** A plan instead of a report, because the research was not started, or a table that was not made. */
const withoutReport = (run: Run, now: number): WithoutReport => ({
  success: true,
  task_id: run.taskId,
  status: run.status,
  query: run.query,
  ...(run.error === undefined ? {} : { note: run.error.message }),
  metadata: resultMetadata({ ...headOf(run, now), ...figuresOf(run, now) }),
});

/** Why the report is partial, in our own words (K2). */
function howItEnded({ kind, status, error }: RunWhole): string | undefined {
  const goesOn = kind === "deep_search" ? " It can be retried from the next round on." : "";
  if (status === "cancelled") return `The run was cancelled before its report was complete.${goesOn}`;
  if (error === undefined) return undefined;
  return `The run failed before its report was complete (${error.code}): ${error.message}${goesOn}`;
}

export type Results = OutputOf<typeof getResearchResults>;
