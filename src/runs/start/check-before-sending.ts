/** Checks immediately before a paid request is sent whether it may still be sent. */

import { AppError } from "../../errors.ts";
import { claimSending, type SendPermission } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";

export interface SendCheck {
  taskId: string;
  attemptId: string;
  /** Aborted when the call that requested the start is cancelled; ignored once it is sent or another call has joined. */
  signal: AbortSignal | undefined;
}

/**
 * A check that holds its lock longer was probably interrupted by a suspension of the process, so the state it read may
 * be stale. The wait for the lock does not count: many starts at once queue for it.
 */
const MAX_CHECK_MS = 1_000;
const MAX_CHECKS = 3;

type Deps = Pick<ResearchDeps, "db" | "clock" | "processId" | "leaving">;

/**
 * Run before every send, the first included: a process can be suspended (SIGSTOP, docker pause, a laptop that sleeps)
 * between storing the intent and sending it, while another process abandons, cancels or restarts the run.
 * Resolves with the reason not to send. A suspension between this check and the socket write is not detected.
 */
export async function checkBeforeSending(deps: Deps, check: SendCheck): Promise<AppError | undefined> {
  for (let checks = 1; ; checks += 1) {
    let elapsed = startTimer();
    const now = (): number => {
      elapsed = startTimer();
      return deps.clock.now();
    };
    const isCallCancelled = check.signal?.aborted === true;
    const refusal =
      refusalWhenLeaving(deps) ??
      (await refusalOf(deps, { ...check, isCallCancelled, now })) ??
      refusalWhenLeaving(deps);
    if (refusal !== undefined) return refusal;
    const isStillCurrent = isCallCancelled || check.signal?.aborted !== true;
    if (isStillCurrent && elapsed() <= MAX_CHECK_MS) return undefined;
    if (checks === MAX_CHECKS) return databaseTooSlow();
  }
}

/** Uses both clocks: the monotonic clock stops while the machine sleeps, the wall clock can be changed. */
function startTimer(): () => number {
  const startedAt = { monotonic: performance.now(), wall: Date.now() };
  return () => Math.max(performance.now() - startedAt.monotonic, Math.abs(Date.now() - startedAt.wall));
}

/** The checks that need no database query. */
export function refuseBeforeIntent(deps: Pick<Deps, "leaving">, signal: AbortSignal | undefined): void {
  const refusal = refusalWhenLeaving(deps) ?? (signal?.aborted === true ? callCancelled() : undefined);
  if (refusal !== undefined) throw refusal;
}

export const refusalWhenLeaving = ({ leaving }: Pick<Deps, "leaving">): AppError | undefined =>
  leaving.aborted ? serverLeaving() : undefined;

async function refusalOf(
  deps: Deps,
  { taskId, attemptId, isCallCancelled, now }: SendCheck & { isCallCancelled: boolean; now: () => number },
): Promise<AppError | undefined> {
  const { db, processId } = deps;
  try {
    const permission = await claimSending(db, { taskId, attemptId, processId, isCallCancelled, now });
    return REFUSALS[permission]?.();
  } catch (error) {
    return databaseRefused(error);
  }
}

export const NOTHING_CHARGED = "The research was not sent and nothing was charged.";

/** A process that is shutting down could not wait for the response and would lose the interaction id. */
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
    message: `The process was suspended before it could send the research, and another process abandoned the start meanwhile. ${NOTHING_CHARGED}`,
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
    message: `The database could not be written right before the research would have been sent. ${NOTHING_CHARGED}`,
    suggestion: "Check the disk and the database, then start again.",
    cause,
  });
}
