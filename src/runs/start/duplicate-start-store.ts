/** Deduplicates starts: computes the join key and finds the run that an identical start joins. */

import { hash } from "node:crypto";
import { sql } from "kysely";
import type { RequestVariant } from "../../gemini/research-agent.ts";
import { cleanText } from "../../platform/clean-text.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow, lockExclusive } from "../../store/dialect.ts";
import { currentOf } from "../conversation-store.ts";

/** Identical starts within this time share one run. */
const JOIN_WITHIN_MS = 10 * 60_000;

/** Runs in these states return no report, so an identical start creates a new run. */
const ENDED_WITHOUT_RESULT = ["failed", "cancelled"] as const;

export interface SameStart {
  owner: string;
  joinKey: string;
  /** By the clock of this machine. */
  now: number;
}

interface JoinKeyInput {
  owner: string;
  query: string;
  agent: string;
  variant?: RequestVariant | undefined;
  /**
   * The run that a follow-up continues. Of its variant only the columns of a table count: Google may refuse the rest and
   * another be sent.
   */
  followupOn?: string | undefined;
  /** The completed run whose answer was of no use, which must not be joined. */
  insteadOf?: string | undefined;
}

/** How long the run may take is not part of the key: Google never sees it. */
export function joinKeyOf({ owner, query, agent, followupOn, insteadOf, ...request }: JoinKeyInput): string {
  const variant = followupOn === undefined ? comparedVariant(request.variant) : undefined;
  const columns = followupOn === undefined ? undefined : request.variant?.columns;
  const options = { variant, followup: followupOn, columns, insteadOf };
  const asCompared = (_name: string, value: unknown): unknown =>
    typeof value === "string" ? comparedText(value) : value;
  return hash("sha256", [owner, comparedText(query), agent, JSON.stringify(options, asCompared)].join("\0"));
}

/** The same for texts that a reader cannot tell apart: invisible characters, Unicode forms and white space are ignored. */
export const comparedText = (text: string): string => cleanText(text).normalize("NFC").replaceAll(/\s+/g, " ").trim();

/**
 * Without the wish for pictures: its default differs between transports, and the same question is not paid for twice
 * because it was asked in a terminal first.
 */
function comparedVariant(variant: RequestVariant = {}): RequestVariant | undefined {
  const { visualization: _, ...compared } = variant;
  return Object.keys(compared).length === 0 ? undefined : compared;
}

/** By the clock of the database, like `created_at`: the clocks of two machines may differ by more than the window. */
const joinableSince = async (db: Database, now: number): Promise<number> =>
  (await databaseNow(db, now)) - JOIN_WITHIN_MS;

/**
 * The current run of an identical start that has not ended without a report. Authoritative only inside the transaction
 * of a start; outside of it the result is a prediction.
 */
export async function findSameStart(db: Database, { owner, joinKey, now }: SameStart): Promise<string | undefined> {
  const since = await joinableSince(db, now);
  const starts = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("join_key", "=", joinKey)
    .where("owner", "=", owner)
    .where("created_at", ">", since)
    .where("status", "not in", ENDED_WITHOUT_RESULT)
    .orderBy("created_at", "desc")
    .execute();
  for (const { task_id } of starts) {
    const { taskId, status, cancelRequestedAt } = await currentOf(db, owner, task_id);
    // A run that is being cancelled may not return a report.
    if (status !== "failed" && status !== "cancelled" && cancelRequestedAt === undefined) return taskId;
  }
  return undefined;
}

/**
 * Joins an identical start inside the transaction of a start, which waits for others of the same key. `joined_at` is
 * stored in the run's row, so that the sender does not stop when its own call is cancelled. A sender that has stopped
 * has marked the same row as cancelled.
 */
export async function joinSameStart(transaction: Database, start: SameStart): Promise<string | undefined> {
  await lockExclusive(transaction, `start:${start.joinKey}`);
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
  // The run was cancelled concurrently; the next search does not return it.
  return joined === undefined ? joinSameStart(transaction, start) : same;
}

/** Finds the run that an earlier call with this id has started, in whatever state it is. */
export async function joinById(
  transaction: Database,
  { taskId, owner }: { taskId: string; owner: string },
): Promise<string | undefined> {
  await lockExclusive(transaction, `start:${taskId}`);
  const runs = transaction.selectFrom("research_tasks").select("task_id").where("owner", "=", owner);
  return (await runs.where("task_id", "=", taskId).executeTakeFirst())?.task_id;
}

const MAX_LONGER_QUESTIONS = 20;

/** Questions of the last minutes that begin with this text, newest first, for example with the user's details after it. */
export async function findLongerQuestions(
  db: Database,
  { owner, beginning, now }: { owner: string; beginning: string; now: number },
): Promise<string[]> {
  const since = await joinableSince(db, now);
  const found = await db
    .selectFrom("research_tasks")
    .select("query")
    .where("owner", "=", owner)
    .where("kind", "=", "agent")
    .where("created_at", ">", since)
    .where("status", "not in", ENDED_WITHOUT_RESULT)
    .where("cancel_requested_at", "is", null)
    .where(sql<string>`substr(query, 1, ${[...beginning].length})`, "=", beginning)
    .orderBy("created_at", "desc")
    .limit(MAX_LONGER_QUESTIONS)
    .execute();
  return found.map(({ query }) => query);
}
