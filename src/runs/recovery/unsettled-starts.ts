/**
 * Starts whose outcome is not stored: failures that were certainly not charged and ids, both refused by the database and
 * stored by a later sweep, and starts whose process ended before Google had answered.
 */

import { AppError } from "../../errors.ts";
import { hasAttempt } from "../attempt-store.ts";
import { START_LEASE_MS, isHeld } from "../lock-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { NOTHING_CHARGED } from "../start/check-before-sending.ts";
import { recordStartFailure, pendingStarts } from "../start/start-store.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { processLiveness } from "../../store/processes.ts";

/**
 * Runs a transaction that stores a start. If the acknowledgement of its COMMIT is lost, the row may exist although the
 * start is never sent. It is remembered as uncharged, so that it is not treated as a possibly paid start.
 */
export async function guardLostCommit<T>(
  deps: Pick<ResearchDeps, "clock" | "unchargedFailures">,
  ids: { taskId: string; attemptId: string },
  commit: () => Promise<T>,
): Promise<T> {
  try {
    return await commit();
  } catch (error) {
    if (error instanceof AppError && error.code === "SQLITE_ERROR") {
      const message = `${error.message} ${NOTHING_CHARGED}`;
      const now = deps.clock.now();
      const { code, suggestion } = error;
      const failure = { to: "failed" as const, error: { code, message, suggestion }, isUnsent: true, now };
      deps.unchargedFailures.set(ids.attemptId, { ...ids, ...failure });
    }
    throw error;
  }
}

/** Stops at the first failure that the database rejects again; the rest is retried on the next sweep. */
export async function flushUnchargedFailures({
  db,
  clock,
  unchargedFailures,
}: Pick<ResearchDeps, "db" | "clock" | "unchargedFailures">): Promise<void> {
  for (const [attemptId, failure] of unchargedFailures) {
    try {
      // Checked before the write, because a delayed commit may take effect between the two.
      const isStored = await hasAttempt(db, attemptId);
      await recordStartFailure(db, failure);
      if (isStored || clock.now() - failure.now > START_LEASE_MS) unchargedFailures.delete(attemptId);
    } catch {
      return;
    }
  }
}

/** Ids that are rejected again stay in `unsavedIds`. */
export async function saveUnsavedIds({ db, clock, queue, unsavedIds }: ResearchDeps): Promise<void> {
  for (const { taskId, attemptId, interactionId } of unsavedIds.values()) {
    const save = async (): Promise<boolean> =>
      (await saveInteractionId(db, { attemptId, interactionId, now: clock.now() }, queue)) ||
      // The import of orphaned ids may have stored it. A database without the attempt is another one.
      (await hasAttempt(db, attemptId));
    if (await save().catch(() => false)) unsavedIds.delete(taskId);
  }
}

export async function markUnknownStarts(deps: ResearchDeps): Promise<void> {
  const starts = await pendingStarts(deps.db);
  const owners = await processLiveness(
    deps.db,
    starts.map(({ leaseOwner }) => leaseOwner ?? ""),
  );
  for (const { taskId, attemptId, leaseOwner, leaseUntil } of starts) {
    const now = deps.clock.now();
    const isKnownHere = deps.unsavedIds.has(taskId) || deps.unchargedFailures.has(attemptId);
    const isLive = owners.get(leaseOwner ?? "") !== "dead" && isHeld(leaseUntil, { now, lease: START_LEASE_MS });
    // `isKnownHere`: this process knows the id or that nothing was charged, and has yet to store it.
    if (isKnownHere || isLive) continue;
    const message =
      "The process that started this research ended before Google had answered. It is not known whether it was started.";
    const error = { code: "START_UNKNOWN", message };
    await recordStartFailure(deps.db, { taskId, attemptId, to: "start_unknown", error, now });
    deps.log.forRun(taskId).warn(`Run ${taskId}: ${message}`);
  }
}
