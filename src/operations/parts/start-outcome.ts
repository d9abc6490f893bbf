/** Google's word on the one request that starts a paid run: waited for, and told when it is bad. */

import { AppError } from "../../errors.ts";
import type { Run } from "../../runs/run.ts";
import { waitForRun } from "../../runs/history/wait.ts";
import { adviceWithoutReport, WAYS_ON_FROM_UNKNOWN } from "./after-failure.ts";
import type { OperationDeps } from "../operation.ts";

const ACCEPTANCE_WITHIN_MS = 25_000;

interface Acceptance {
  owner: string;
  taskId: string;
  /** Undefined for a run that was joined. */
  sending: Promise<void> | undefined;
  /** When the call must be answered, whatever is known by then; by the monotonic clock. */
  answerBy?: number;
}

/** Waits for Google's answer to the one request. Throws what became of it, unless that is good or not known yet. */
export async function acceptedRun(
  deps: OperationDeps,
  { owner, taskId, sending, answerBy = Infinity }: Acceptance,
): Promise<Run> {
  const within = Math.max(0, Math.min(ACCEPTANCE_WITHIN_MS, answerBy - deps.clock.monotonic()));
  if (sending !== undefined) await atMost(deps, within, sending);
  // A run that was joined may still be on its way to Google, from whatever process.
  const run = await waitForRun(await deps.database(), deps.clock, {
    owner,
    taskId,
    until: ({ status }) => status !== "pending",
    ms: sending === undefined ? within : 0,
  });
  const joined = sending === undefined ? joinedNotice(run, deps.clock.now()) : undefined;
  if (run.status === "start_unknown" || run.status === "failed") throw failedStart(run, joined);
  return run;
}

async function atMost(deps: OperationDeps, ms: number, work: Promise<void>): Promise<void> {
  const controller = new AbortController();
  await Promise.race([work, deps.clock.sleep(ms, controller.signal).catch(() => undefined)]);
  controller.abort();
}

function startUnknown(run: Run, joined: string | undefined): AppError {
  const why = run.error?.message ?? "It is not known whether the research was started.";
  return new AppError({
    code: "START_UNKNOWN",
    message: joined === undefined ? why : `${joined} ${why}`,
    suggestion: WAYS_ON_FROM_UNKNOWN,
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
] as const;

/** Why a run has no report, as the answer to the call that started or joined it. */
export function failedStart(run: Run, joined?: string): AppError {
  if (run.status === "start_unknown") return startUnknown(run, joined);
  const cancelled = run.status === "cancelled";
  return new AppError({
    code: cancelled ? "CANCELLED" : (CODES.find((code) => code === run.error?.code) ?? "RESEARCH_FAILED"),
    message: run.error?.message ?? (cancelled ? "The run was cancelled." : "The research ended without a report."),
    suggestion: adviceWithoutReport(run),
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });
}

/** A joined start in words: nothing was sent now, and why. */
export function joinedNotice({ createdAt }: Run, now: number): string {
  const minutes = Math.max(0, Math.round((now - createdAt) / 60_000));
  const when = minutes === 0 ? "less than a minute ago" : minutes === 1 ? "a minute ago" : `${minutes} minutes ago`;
  return `Nothing was sent and nothing is charged for this call: the same research was started ${when}, and this call joined it.`;
}

/** Nothing that costs is started where its id could be lost. */
export function notDurable(): AppError {
  return new AppError({
    code: "SQLITE_ERROR",
    message: "The database cannot be written, so a paid run could be lost. Nothing was started.",
    suggestion: "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
  });
}
