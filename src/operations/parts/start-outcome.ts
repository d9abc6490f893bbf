/** Waits for the outcome of the paid start and throws it if it failed. */

import { AppError } from "../../errors.ts";
import { agoText } from "../../platform/duration.ts";
import type { Run } from "../../runs/run.ts";
import type { Sending } from "../../runs/start/start.ts";
import { waitForRun } from "../../runs/history/wait.ts";
import { adviceWithoutReport, optionsAfterUnknownStart } from "./after-failure.ts";
import type { OperationDeps, ResearchParts } from "../operation.ts";

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
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
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
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
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
