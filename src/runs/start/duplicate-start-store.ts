/** Identical starts are one start: what makes two the same, and the run that a second one joins. */

import { createHash } from "node:crypto";
import type { Database } from "../../store/database.ts";

/** Identical starts within this time are one start. */
const JOIN_WITHIN_MS = 10 * 60_000;

/** What they do not bring has to be asked for anew. */
const ENDED_WITHOUT_RESULT = ["failed", "cancelled"] as const;

export interface SameStart {
  owner: string;
  joinKey: string;
  now: number;
}

interface StartWish {
  owner: string;
  query: string;
  agent: string;
  maxWaitMs: number;
}

export const joinKeyOf = ({ owner, query, agent, maxWaitMs }: StartWish): string =>
  createHash("sha256")
    .update([owner, query, agent, JSON.stringify({ max_wait_ms: maxWaitMs })].join("\0"))
    .digest("hex");

/** Inside the transaction of a start it decides; outside it only foresees. */
export async function findSameStart(db: Database, { owner, joinKey, now }: SameStart): Promise<string | undefined> {
  const same = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("join_key", "=", joinKey)
    .where("owner", "=", owner)
    .where("created_at", ">", now - JOIN_WITHIN_MS)
    .where("status", "not in", ENDED_WITHOUT_RESULT)
    // One that is being cancelled will not bring what is asked for now.
    .where("cancel_requested_at", "is", null)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return same?.task_id;
}

/**
 * Joins it inside the transaction of a start. The join is stored with the run, so that its sender sees it; a sender that
 * gives up for its cancelled call says so on the same row, and is not joined any more.
 */
export async function joinSameStart(transaction: Database, start: SameStart): Promise<string | undefined> {
  const same = await findSameStart(transaction, start);
  if (same === undefined) return undefined;
  const joined = await transaction
    .updateTable("research_tasks")
    .set({ joined_at: start.now })
    .where("task_id", "=", same)
    .where("status", "not in", ENDED_WITHOUT_RESULT)
    .where("cancel_requested_at", "is", null)
    .returning("task_id")
    .executeTakeFirst();
  // Cancelled in this moment, it is not found again.
  return joined === undefined ? joinSameStart(transaction, start) : same;
}
