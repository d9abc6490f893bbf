/** Failed starts that were certainly not charged but could not be stored; retried on every sweep. */

import { AppError } from "../../errors.ts";
import { hasAttempt } from "../attempt-store.ts";
import { START_LEASE_MS } from "../lease.ts";
import type { ResearchDeps } from "../deps.ts";
import { NOTHING_CHARGED } from "../start/check-before-sending.ts";
import { recordStartFailure } from "../start/start-store.ts";

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
