/** A paid run within the call that started or joined it: waits for Google's acceptance and for its end, and cancels it with the call. */

import { AppError } from "../../errors.ts";
import { agoText } from "../../platform/duration.ts";
import { isIdle, type Run, aboutRun } from "../../runs/run.ts";
import type { Sending, Started } from "../../runs/start/start.ts";
import { waitForRun } from "../../runs/history/read.ts";
import { adviceWithoutReport, optionsAfterUnknownStart } from "../parts/after-failure.ts";
import type { Call, OperationDeps, ResearchParts } from "../operation.ts";
import { createActionReporter, followRun } from "../parts/follow-run.ts";
import { stopMessage, stopRun } from "../parts/stop-run.ts";

/** The answer is due within 30 s whatever happens (I3), less a margin for a busy machine. The request itself may take longer. */
export const ANSWER_WITHIN_MS = 28_000;

const ACCEPTANCE_WITHIN_MS = 25_000;

interface StartedRun {
  owner: string;
  taskId: string;
  /** The request to Google; undefined for a run that was joined. */
  sending: Sending | undefined;
  /** Time by the monotonic clock at which the call must be answered, whatever is known by then. */
  answerBy?: number;
}

/** Returns the run once Google has accepted it, or while that is not known yet. Throws when the start failed. */
export async function waitForStartOutcome(
  deps: OperationDeps,
  { owner, taskId, sending, answerBy = Infinity }: StartedRun,
): Promise<Run> {
  const within = Math.max(0, Math.min(ACCEPTANCE_WITHIN_MS, answerBy - deps.clock.monotonic()));
  const timer = new AbortController();
  const failure =
    sending && (await Promise.race([sending, deps.clock.sleep(within, timer.signal).catch(() => undefined)]));
  timer.abort();
  // The start of a joined run may still be in flight, from any process.
  const run = await waitForRun(await deps.database(), deps.clock, {
    owner,
    taskId,
    until: ({ status }) => status !== "pending",
    ms: sending === undefined ? within : 0,
  });
  const joined = sending === undefined ? joinedNotice(run, deps.clock.now()) : undefined;
  if (run.status === "start_unknown" || run.status === "failed") throw failedStart(run, joined);
  if (sending !== undefined && run.status === "cancelled") throw failedStart(run);
  // The database refused the failure, so the stored run still waits for Google.
  if (failure !== undefined && run.status === "pending") {
    throw failedStart({ ...run, status: failure.to, error: failure.error });
  }
  return run;
}

/** Until Google has accepted a start, nothing is running. */
export const messageOnceAccepted = ({ status }: Run, message: string): string =>
  status === "pending" ? "Google has not accepted the start yet; its status shows whether it does." : message;

/** The call returns what the run has led to: no notification is needed. */
export async function recordReturnedEnd(deps: OperationDeps, taskId: string): Promise<void> {
  const store = await import("../../runs/start/start-store.ts");
  await store.recordReturnedEnd(await deps.database(), taskId);
}

function startUnknown(run: Run, joined: string | undefined): AppError {
  const why = run.error?.message ?? "It is not known whether the research was started.";
  return new AppError({
    code: "START_UNKNOWN",
    message: joined === undefined ? why : `${joined} ${why}`,
    ...optionsAfterUnknownStart(run),
    run: aboutRun(run),
  });
}

const CODES = [
  "GEMINI_UNAVAILABLE",
  "EXECUTION_ERROR",
  "INTERRUPTED",
  "SQLITE_ERROR",
  "DISK_FULL",
  "RESEARCH_FAILED",
  "PLAN_EXPIRED",
] as const;

/** The error for the call that started or joined a run that ended without a report. */
export function failedStart(run: Run, joined?: string): AppError {
  if (run.status === "start_unknown") return startUnknown(run, joined);
  const cancelled = run.status === "cancelled";
  return new AppError({
    code: cancelled ? "CANCELLED" : (CODES.find((code) => code === run.error?.code) ?? "RESEARCH_FAILED"),
    message: run.error?.message ?? (cancelled ? "The run was cancelled." : "The research ended without a report."),
    ...adviceWithoutReport(run),
    run: aboutRun(run),
  });
}

/** Explains to the caller of a joined start that nothing was sent and why. */
export const joinedNotice = ({ createdAt }: Run, now: number): string =>
  `Nothing was sent and nothing is charged for this call: the same research was started ${agoText(now - createdAt)}, and this call joined it.`;

/** `cause`: why the database cannot be written; undefined if it can, but not its directory. */
export function notStarted(cause: AppError | undefined): AppError {
  const reason = cause?.message ?? "The config directory cannot be written.";
  return new AppError({
    code: cause?.code ?? "SQLITE_ERROR",
    message: `${reason} A paid run could be lost, so nothing was started.`,
    suggestion: cause?.suggestion ?? "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
    details: cause?.details,
  });
}

/** A paid run is not started where its interaction id could be lost. */
export async function requireDurable({ obstacle }: Pick<ResearchParts, "obstacle">): Promise<void> {
  const refusal = await obstacle();
  if (refusal !== undefined) throw refusal;
}

/**
 * The run of a call that has started or joined it, once it has ended or the call must be answered. Throws if the start
 * failed, or if the run was cancelled with the call.
 */
export async function followStarted(
  deps: OperationDeps,
  call: Call,
  { started, message, answerBy, waitMs }: Following,
): Promise<Run> {
  const { kind, taskId } = started;
  call.onRunCreated?.(taskId);
  if (message !== undefined) call.progress(message, { taskId });
  const sending = kind === "started" ? started.sending : undefined;
  const accepted = await waitForStartOutcome(deps, { owner: call.owner, taskId, sending, answerBy });
  const ms = Math.max(0, Math.min(waitMs, answerBy - deps.clock.monotonic()));
  const run = await waitForEnd(deps, call, { run: accepted, ms });
  await cancelWithCall(deps, call, started);
  // A run becomes sync only by an answer that its caller receives.
  const isReturned = kind === "started" && call.returnWhen?.aborted !== true && !call.signal.aborted;
  if (isReturned && isIdle(run.status)) await recordReturnedEnd(deps, taskId);
  return run;
}

interface Following {
  started: Started;
  /** The first message to the caller; undefined if there is nothing to wait for. */
  message: string | undefined;
  answerBy: number;
  /** How long the call may wait for the end. */
  waitMs: number;
}

/** Follows the run and reports its progress until it ends, the time is over or the caller no longer waits. */
async function waitForEnd(deps: OperationDeps, call: Call, { run, ms }: { run: Run; ms: number }): Promise<Run> {
  const report = createActionReporter(deps, call);
  let hasNews = false;
  return followRun(deps, run, {
    call,
    ms,
    until: (seen) => {
      // The first message was that of the start, with the task_id; it stays until there is news.
      hasNews ||= seen.currentAction !== undefined || seen.obstacle !== undefined;
      if (hasNews) report(seen);
      return isIdle(seen.status);
    },
  });
}

/**
 * A client that disconnects and a server that shuts down cancel nothing. Nor does a call that joined the run of another,
 * or whose run another call has joined. Throws if the run was cancelled.
 */
async function cancelWithCall(deps: OperationDeps, call: Call, { kind, taskId }: Started): Promise<void> {
  if (kind === "joined" || deps.leaving.aborted || call.isCancelled?.() !== true) return;
  const db = await deps.database();
  const { noteCancelledCall, requestCancel } = await import("../../runs/cancel/cancel-store.ts");
  const now = deps.clock.now();
  if (!(await requestCancel(db, { taskId, keepPartial: true, unlessJoined: true, now }))) return;
  const stopped = await stopRun(deps, { owner: call.owner, taskId, keepPartial: true });
  await noteCancelledCall(db, { taskId, message: CALL_CANCELLED });
  const { status, progress } = await deps.findRun(call.owner, taskId);
  throw new AppError({
    code: "CANCELLED",
    message: `${CALL_CANCELLED} ${stopMessage(stopped)}`,
    run: { task_id: taskId, status, progress },
  });
}

const CALL_CANCELLED = "The client cancelled the call that had started this run.";
