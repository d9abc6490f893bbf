/** Deletes one finished run permanently: at Google first if requested, then in the database. */

import { AppError } from "../../errors.ts";
import type { Agent } from "../../gemini/research-agent.ts";
import type { CostOf } from "../../costs/actual.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { truncateLog } from "../../store/sqlite/sqlite.ts";
import { reservedOf } from "../ledger/reserved-store.ts";
import { canHaveExpired, missingSetting } from "../poll/ask.ts";
import { reconcile } from "../poll/reconcile.ts";
import { isFinished, type Run, aboutRun } from "../run.ts";
import { currentOf, lineOf } from "../conversation-store.ts";
import { deleteRun, interactionIdsOf, isDeletable, UNKNOWN_KEPT_MS, unknownStartsSince } from "./deletion-store.ts";

export interface DeleteDeps {
  db: Database;
  clock: Clock;
  /** Undefined without an API key: then nothing can be deleted at Google. */
  agent: Agent | undefined;
  costOf: CostOf;
  /** Polls of all processes with this key in a second. */
  maxRps: number;
  leaving: AbortSignal;
  /** Removes the files of runs whose reports the database had refused. */
  removeBackups: (taskIds: ReadonlySet<string>) => Promise<void>;
}

export interface DeleteRequest {
  owner: string;
  taskId: string;
  atGoogle: boolean;
}

const DELETE_TIMEOUT_MS = 10_000;

/** Undefined: deletion at Google was not requested, or the run has no interaction id. */
export type DeletedAtGoogle = true | undefined;

/** Throws if the run must be kept. */
export async function deleteFinishedRun(deps: DeleteDeps, request: DeleteRequest): Promise<DeletedAtGoogle> {
  const { db, clock } = deps;
  const run = await currentOf(db, request.owner, request.taskId);
  if (!isFinished(run.status)) throw notEndedYet(run);
  const taskIds = (await lineOf(db, run.taskId)).map(({ task_id }) => task_id);
  const deletion = { taskIds, atGoogle: request.atGoogle, now: clock.now() };
  const unknownSentAt = await unknownStartsSince(db, taskIds, deletion.now - UNKNOWN_KEPT_MS);
  if (unknownSentAt !== undefined) throw mayBeCharged(run, unknownSentAt + UNKNOWN_KEPT_MS);
  if (!(await isDeletable(db, deletion))) throw stillPolled(run);
  await settleUsage(deps, taskIds);
  const ids = request.atGoogle ? await interactionIdsOf(db, taskIds) : [];
  // Google first, while the ids are still stored: a failed deletion can be retried.
  for (const id of ids) await deleteAtGoogle(deps, run, id);
  if (!(await deleteRun(db, deletion))) throw stillPolled(run);
  await deps.removeBackups(new Set(taskIds));
  await emptyLog(deps);
  return ids.length > 0 ? true : undefined;
}

/** Its usage is polled no longer once the run is deleted, and Google knows it no longer once its copy is. */
async function settleUsage({ agent, ...deps }: DeleteDeps, taskIds: string[]): Promise<void> {
  if (agent === undefined) return;
  await reconcile({ ...deps, agent }, await reservedOf(deps.db, taskIds));
}

const MAX_LOG_ATTEMPTS = 20;
const LOG_RETRY_MS = 100;

/** If other processes use the log all the time, the hourly pass of retention empties it. */
async function emptyLog({ db, clock }: DeleteDeps): Promise<void> {
  for (let attempt = 1; !(await truncateLog(db)) && attempt < MAX_LOG_ATTEMPTS; attempt += 1)
    await clock.sleep(LOG_RETRY_MS);
}

async function deleteAtGoogle({ db, clock, agent }: DeleteDeps, run: Run, interactionId: string): Promise<void> {
  if (agent === undefined) throw keptAtGoogle(run, "No API key is set.");
  const answer = await agent.delete(interactionId, AbortSignal.timeout(DELETE_TIMEOUT_MS));
  if (answer.kind === "deleted") return;
  if (answer.kind === "refused") throw keptAtGoogle(run, answer.error.message);
  // Missing at Google counts as deleted, but Google says the same to another key, and of an interaction that is fresh.
  const needed = await missingSetting({ db, agent }, { taskId: run.taskId, interactionId });
  if (needed !== undefined) throw keptAtGoogle(run, OTHER_SETTINGS, RESTORE_SETTINGS);
  if (!(await canHaveExpired({ db, clock }, { interactionId, createdAt: run.createdAt })))
    throw keptAtGoogle(run, NOT_FOUND_YET);
}

const OTHER_SETTINGS = "It was started with another API key or base URL, and only that one can delete it.";
const NOT_FOUND_YET = "It does not find the copy, which is no proof within a day of the start.";
const RESTORE_SETTINGS = "Restore GEMINI_API_KEY and GOOGLE_GEMINI_BASE_URL";

const keptAtGoogle = (run: Run, reason: string, remedy = "Try again later"): AppError =>
  new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: `Google did not delete its copy, so the run was not deleted here either. ${reason}`,
    suggestion: `${remedy}, or delete it here only; Google deletes its copy automatically after some weeks.`,
    run: aboutRun(run),
  });

const notEndedYet = (run: Run): AppError =>
  new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message: "This run has not ended, so it was not deleted.",
    suggestion: "Cancel it first, then delete it.",
    run: aboutRun(run),
  });

/** The run has ended here, but not yet at Google. */
const stillPolled = (run: Run): AppError =>
  new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message:
      run.status === "cancelled"
        ? "The run is cancelled here, but Google has not confirmed it: its report may still arrive and be charged, so it was not deleted."
        : "Google may still finish this run, so it is still polled and was not deleted.",
    suggestion:
      run.deadlineAt === undefined
        ? "Delete it again in a few minutes."
        : `Delete it again in a few minutes; it is polled until ${new Date(run.deadlineAt).toISOString()}.`,
    run: aboutRun(run),
  });

const mayBeCharged = (run: Run, until: number): AppError =>
  new AppError({
    code: "START_UNKNOWN",
    message:
      "Google may have started and charged this research, but its id is not known. The run is kept so that the report can still be found.",
    suggestion: `It can be deleted from ${new Date(until).toISOString().slice(0, 10)}.`,
    next: [{ do: "adopt" }],
    run: aboutRun(run),
  });
