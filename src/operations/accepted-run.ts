/** Google's word on the one request that starts a paid run: waited for, and told when it is bad. */

import { AppError } from "../errors.ts";
import type { Run } from "../runs/run.ts";
import { waitForRun } from "../runs/wait.ts";
import type { OperationDeps } from "./operation.ts";

const ACCEPTANCE_WITHIN_MS = 25_000;

interface Acceptance {
  owner: string;
  taskId: string;
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
  if (run.status === "start_unknown" || run.status === "failed") throw failedStart(run);
  return run;
}

async function atMost(deps: OperationDeps, ms: number, work: Promise<void>): Promise<void> {
  const controller = new AbortController();
  await Promise.race([work, deps.clock.sleep(ms, controller.signal).catch(() => undefined)]);
  controller.abort();
}

function startUnknown(run: Run): AppError {
  return new AppError({
    code: "START_UNKNOWN",
    message: run.error?.message ?? "Nobody knows whether the research was started.",
    suggestion:
      "It is not repeated by itself, because it may be running and charged. resume_research adopts its interaction_id (AI Studio shows it), or starts again with accept_possible_double_charge.",
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });
}

/** Why a run has no report, as the answer to who started it. */
export function failedStart(run: Run): AppError {
  if (run.status === "start_unknown") return startUnknown(run);
  const codes = ["GEMINI_UNAVAILABLE", "EXECUTION_ERROR", "SQLITE_ERROR", "DISK_FULL", "RESEARCH_FAILED"] as const;
  const cancelled = run.status === "cancelled";
  return new AppError({
    code: cancelled ? "CANCELLED" : (codes.find((code) => code === run.error?.code) ?? "RESEARCH_FAILED"),
    message: run.error?.message ?? (cancelled ? "The run was cancelled." : "The research ended without a report."),
    suggestion:
      run.interactionId === undefined ? notCharged(run) : "check_research_status and get_research_results say more.",
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });
}

const notCharged = ({ error }: Run): string =>
  error?.code === "GEMINI_UNAVAILABLE"
    ? "Nothing was charged. Check GEMINI_API_KEY (a paid plan is needed), the network and the quota, then start again."
    : "Nothing was charged. Check the name of the model, shorten or rephrase the question, then start again.";

/** Nothing that costs is started where its id could be lost. */
export function notDurable(): AppError {
  return new AppError({
    code: "SQLITE_ERROR",
    message: "The database cannot be written, so a paid run could be lost. Nothing was started.",
    suggestion: "Make the config directory writable, or set GEMINI_SEARCH_CONFIG_DIR.",
  });
}
