/** Starts that surely cost nothing, whose end the database did not take: it is told again until it does. */

import { AppError } from "../../errors.ts";
import { hasAttempt } from "../attempt-store.ts";
import { START_LEASE_MS } from "../lease.ts";
import type { ResearchDeps } from "../deps.ts";
import { recordStartFailure } from "../start/start-store.ts";

/**
 * Runs what stores an intent. When the answer to its commit is lost it may be stored all the same, as a start under way
 * that nobody will send: others would wait for it, and take it for one that may have been paid.
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
      const message = `${error.message} The research was not sent and nothing was charged.`;
      const now = deps.clock.now();
      deps.unchargedFailures.set(ids.attemptId, { ...ids, to: "failed", error: { code: error.code, message }, now });
    }
    throw error;
  }
}

/** Ends at the first that the database refuses again: the others wait for the next time. */
export async function flushUnchargedFailures({
  db,
  clock,
  unchargedFailures,
}: Pick<ResearchDeps, "db" | "clock" | "unchargedFailures">): Promise<void> {
  for (const [attemptId, failure] of unchargedFailures) {
    try {
      // Asked first: a commit that is still on its way may come between the two.
      const isStored = await hasAttempt(db, attemptId);
      await recordStartFailure(db, failure);
      if (isStored || clock.now() - failure.now > START_LEASE_MS) unchargedFailures.delete(attemptId);
    } catch {
      return;
    }
  }
}
