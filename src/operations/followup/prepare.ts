/** Prepares a follow-up on a finished run, or a table of its report: what is sent, and what it will cost. */

import { FOLLOWUP_MODEL } from "../../costs/prices.ts";
import type { FollowupEstimate } from "../../costs/estimate.ts";
import { AppError } from "../../errors.ts";
import type { RequestVariant } from "../../gemini/research-agent.ts";
import { pollKeyOfRun } from "../../runs/run-store.ts";
import { readStored, type StoredRun } from "../../runs/history/read.ts";
import { aboutRun, isFinished, type Run } from "../../runs/run.ts";
import type { Followup } from "../../runs/start/fallback.ts";
import { variantOf } from "../../runs/start/start-options.ts";
import { pollKeyOf } from "../../store/processes.ts";
import type { OperationDeps } from "../operation.ts";
import { withoutText } from "../parts/after-failure.ts";
import { costQuestion } from "../parts/cost-confirmation.ts";
import { dollars } from "../../costs/dollars.ts";
import { type FollowupRequest, readStoredContext, readTableContext, type TableRequest } from "./context.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { findTable } from "../../runs/table/find-table.ts";
import { cleanTitle } from "../../runs/library/organize-store.ts";

export interface PreparedFollowup {
  followup: Followup;
  variant: RequestVariant;
  /** Of a table; a follow-up is shown by its question. */
  title?: string;
  /** Why only a part of the report is sent, if so. */
  notice: string | undefined;
  estimate: FollowupEstimate | undefined;
}

/** Throws unless the run has ended with a report. */
export async function prepareFollowup(deps: OperationDeps, request: FollowupRequest): Promise<PreparedFollowup> {
  const db = await deps.database();
  const parent = await readStored(db, request.owner, request.taskId);
  const readStoredReport = () => readStoredContext(db, request);
  const stored = isFinished(parent.run.status) && parent.result !== undefined ? await readStoredReport() : undefined;
  if (stored === undefined) throw await withoutText(db, parent.run);
  const model = FOLLOWUP_MODEL;
  // At Google the conversation is about as long as what is stored of it here.
  const estimate = await deps.estimateFollowup(stored.input.length);
  const previousInteractionId = await continuableId(deps, parent);
  if (previousInteractionId === undefined) {
    const { input, notice } = stored;
    return { followup: { context: "stored_report", readStoredReport }, variant: { model, input }, notice, estimate };
  }
  const variant = { model, previousInteractionId };
  return { followup: { context: "google", readStoredReport }, variant, notice: undefined, estimate };
}

/**
 * How long Google keeps interactions of a paid project (https://ai.google.dev/gemini-api/docs/interactions). A free one
 * keeps them for a day; which kind a key belongs to is not known here, and shows in Google's refusal.
 */
const RETENTION_MS = 55 * 86_400_000;

/** The interaction to continue; undefined if Google certainly cannot. */
async function continuableId(deps: OperationDeps, { run, result }: StoredRun): Promise<string | undefined> {
  const { kind, status, interactionId, createdAt, taskId } = run;
  if (kind !== "agent" || status !== "completed" || result?.partial === true) return undefined;
  if (interactionId === undefined || deps.clock.now() - createdAt > RETENTION_MS) return undefined;
  const agent = await deps.agent();
  const key = await pollKeyOfRun(await deps.database(), taskId);
  const isForeign = agent !== undefined && key !== undefined && key !== pollKeyOf(agent.fingerprint);
  return isForeign ? undefined : interactionId;
}

/** What a restart of a follow-up sends, whose first start is unknown. */
export async function restartedFollowup(
  deps: OperationDeps,
  run: Run,
): Promise<(Followup & { variant: RequestVariant }) | undefined> {
  const { owner, parentTaskId, followupContext: context, query: question } = run;
  if (context === undefined) return undefined;
  const db = await deps.database();
  const variant = variantOf(run.options) ?? {};
  const readStoredReport = async () => {
    if (parentTaskId === undefined) return undefined;
    const request = { owner, taskId: parentTaskId, question };
    return variant.columns === undefined
      ? readStoredContext(db, request)
      : readTableContext(db, { ...request, columns: variant.columns });
  };
  if (context === "google") return { context, readStoredReport, variant };
  const stored = await readStoredReport();
  if (stored === undefined) throw parentGone(run);
  return { context, readStoredReport, variant: { ...variant, input: stored.input } };
}

const parentGone = (run: Run): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "The run that this follow-up continues was deleted, so it cannot be sent again. Nothing was sent.",
    next: [{ do: "cancel" }],
    run: aboutRun(run),
  });

type AskedRun = Pick<FollowupRequest, "owner" | "taskId">;

/** What the next follow-up on a run, or a table of it, will cost, whatever is asked. */
export async function followupTerms(deps: OperationDeps, asked: AskedRun, what: "question" | "table") {
  const isTable = what === "table";
  const estimate = isTable
    ? await tableEstimate(deps, asked)
    : (await prepareFollowup(deps, { ...asked, question: "" })).estimate;
  // Shown before anything is asked.
  const about = { operation: "ask_followup", input: "", run: asked.taskId };
  const start = { about, query: "", agent: FOLLOWUP_MODEL, followup: estimate ?? null, isTable };
  return { likelyUsd: estimate?.usd.likely, question: await costQuestion(deps, asked, start) };
}

/**
 * The context is always the stored report: only in it the sources have the numbers that the cells must name. Throws
 * unless the run has ended with a report.
 */
export async function prepareTable(deps: OperationDeps, request: TableRequest): Promise<PreparedFollowup> {
  const db = await deps.database();
  const stored = await readTableContext(db, request);
  const run = await currentOf(db, request.owner, request.taskId);
  if (stored === undefined) throw await withoutText(db, run);
  const { input, notice } = stored;
  const { columns } = request;
  return {
    followup: { context: "stored_report", readStoredReport: async () => stored },
    variant: { model: FOLLOWUP_MODEL, input, columns },
    title: tableTitle(run.query, columns),
    notice,
    estimate: await deps.estimateFollowup(input.length, "table"),
  };
}

/** One sentence with the price; undefined for a table that was made before. Throws where none can be made. */
export async function priceToMake(deps: OperationDeps, request: TableRequest): Promise<string | undefined> {
  if ((await findTable(await deps.database(), request)).table !== undefined) return undefined;
  const { estimate } = await prepareTable(deps, request);
  if (estimate === undefined) return "The cost of this table is unknown.";
  return `This table costs about ${dollars(estimate.usd.likely)} (up to ${dollars(estimate.usd.max)}).`;
}

/** What a table of a run will cost, whatever its columns are. */
export const tableEstimate = async (deps: OperationDeps, asked: AskedRun): Promise<FollowupEstimate | undefined> =>
  (await prepareTable(deps, { ...asked, question: "", columns: [] })).estimate;

/** Together with the words around them below MAX_TITLE_CHARACTERS, and one or two lines of a list. */
const MAX_QUESTION_CHARACTERS = 80;
const MAX_COLUMNS_CHARACTERS = 80;

/** `question` is that of the run with the report. */
export const tableTitle = (question: string, columns: readonly string[]): string =>
  `Table of “${shortened(question, MAX_QUESTION_CHARACTERS)}”: ${shortened(columns.join(", "), MAX_COLUMNS_CHARACTERS)}`;

function shortened(text: string, maxCharacters: number): string {
  const characters = Array.from(cleanTitle(text));
  if (characters.length <= maxCharacters) return characters.join("");
  return `${characters
    .slice(0, maxCharacters - 1)
    .join("")
    .trimEnd()}…`;
}
