/** Decides, at the last moment before a paid request leaves, whether it may still be sent. */

import { AppError } from "../../errors.ts";
import { claimSending, type SendPermission } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";

export interface SendCheck {
  taskId: string;
  attemptId: string;
  /** The call that asked for the start. Its cancellation counts until the request is sent or another call joins. */
  signal: AbortSignal | undefined;
}

/** A check that takes longer was interrupted, most likely by a suspension of the process: what it read may be old. */
const MAX_CHECK_MS = 1_000;
const MAX_CHECKS = 3;

type Deps = Pick<ResearchDeps, "db" | "clock" | "processId" | "leaving">;

/**
 * Run before every send, the first included: a process can be suspended (SIGSTOP, docker pause, a laptop that sleeps)
 * between storing the intent and sending it, while another process gives the start up, cancels or restarts it.
 * Resolves with the reason not to send. What remains is a suspension between this check and the write of the request.
 */
export async function checkBeforeSending(deps: Deps, check: SendCheck): Promise<AppError | undefined> {
  for (let checks = 1; ; checks += 1) {
    const elapsed = stopwatch();
    const isCallCancelled = check.signal?.aborted === true;
    const refusal =
      refusalWhenLeaving(deps) ?? (await refusalOf(deps, { ...check, isCallCancelled })) ?? refusalWhenLeaving(deps);
    if (refusal !== undefined) return refusal;
    const isStillCurrent = isCallCancelled || check.signal?.aborted !== true;
    if (isStillCurrent && elapsed() <= MAX_CHECK_MS) return undefined;
    if (checks === MAX_CHECKS) return databaseTooSlow();
  }
}

/** By both clocks: the monotonic one stands still while the machine sleeps, the other can be set. */
function stopwatch(): () => number {
  const began = { monotonic: performance.now(), wall: Date.now() };
  return () => Math.max(performance.now() - began.monotonic, Math.abs(Date.now() - began.wall));
}

/** What is known without asking the database. */
export function cancelledOrLeaving(
  deps: Pick<Deps, "leaving">,
  { signal }: Pick<SendCheck, "signal">,
): AppError | undefined {
  return refusalWhenLeaving(deps) ?? (signal?.aborted === true ? callCancelled() : undefined);
}

export const refusalWhenLeaving = ({ leaving }: Pick<Deps, "leaving">): AppError | undefined =>
  leaving.aborted ? serverLeaving() : undefined;

async function refusalOf(
  deps: Deps,
  { taskId, attemptId, isCallCancelled }: SendCheck & { isCallCancelled: boolean },
): Promise<AppError | undefined> {
  const { db, processId, clock } = deps;
  try {
    const permission = await claimSending(db, { taskId, attemptId, processId, isCallCancelled, now: clock.now() });
    return REFUSALS[permission]?.();
  } catch (error) {
    return databaseRefused(error);
  }
}

const NOTHING_CHARGED = "The research was not sent and nothing was charged.";

/** A process on its way out could not wait for the answer, and its id would be lost. */
const serverLeaving = (): AppError =>
  new AppError({
    code: "INTERRUPTED",
    message: `The server is shutting down. ${NOTHING_CHARGED}`,
    suggestion: "Start it again.",
  });

const callCancelled = (): AppError =>
  new AppError({ code: "CANCELLED", message: `The call was cancelled before anything was sent. ${NOTHING_CHARGED}` });

const runCancelled = (): AppError =>
  new AppError({ code: "CANCELLED", message: `The run was cancelled before it was sent. ${NOTHING_CHARGED}` });

const takenOver = (): AppError =>
  new AppError({
    code: "INTERRUPTED",
    message: `The process was suspended before it could send the research, and another gave it up meanwhile. ${NOTHING_CHARGED}`,
    suggestion: "Start it again.",
  });

const REFUSALS: Record<SendPermission, (() => AppError) | undefined> = {
  granted: undefined,
  cancelled: runCancelled,
  call_cancelled: callCancelled,
  taken_over: takenOver,
};

const databaseTooSlow = (): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The database is too slow to start a paid run safely. ${NOTHING_CHARGED}`,
    suggestion: "Try again when the machine is less busy.",
  });

function databaseRefused(cause: unknown): AppError {
  const isFull = cause instanceof AppError && cause.code === "DISK_FULL";
  return new AppError({
    code: isFull ? "DISK_FULL" : "SQLITE_ERROR",
    message: `The database could not be written just before the research was to be sent. ${NOTHING_CHARGED}`,
    suggestion: "Check the disk and the database, then start again.",
    cause,
  });
}
