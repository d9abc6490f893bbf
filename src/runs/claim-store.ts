/** The SQL of who may look at a followed run, and when. */

import type { Database } from "../store/database.ts";
import { isShared, passingOver } from "../store/dialect.ts";
import { holdFor, type Pace, reserveTurn, turnsNow, useTurns, waitForTurn } from "../store/pace.ts";
import { type Among, dueInFairOrder, handedTo, unleased } from "./due-store.ts";
import { LOOK_LEASE_MS } from "./lease.ts";
import { isPollable } from "./rows/run-row.ts";
import { noteUnreadable } from "./rows/unreadable.ts";
import { RUN_STATUSES, type RunStatus } from "./run.ts";

/*
 * A run is followed while `next_poll_at` is set. Finished ones, too: for usage that comes late, for a cancel without
 * Google's word, and for a failed run that somebody asked to look at again.
 */

export interface ClaimedRun {
  taskId: string;
  query: string;
  interactionId: string;
  status: RunStatus;
  agent: string;
  epoch: number;
  createdAt: number;
  deadlineAt: number;
  cancelRequestedAt: number | undefined;
  keepPartial: boolean;
  progress: number;
  currentAction: string | undefined;
  completedAt: number;
}

export interface Claim {
  processId: string;
  limit: number;
  maxRps: number;
  now: number;
  /** When each of them is due again. */
  nextPollAt: number;
  among?: Among | undefined;
}

const looksOf = (db: Database, key: string | undefined): string =>
  key !== undefined && isShared(db) ? `looks:${key}` : "looks";

/** However many are due, and in however many processes: together they ask Google no more often than is allowed. */
export function claimInTurn(db: Database, { maxRps, ...claim }: Claim): Promise<ClaimedRun[]> {
  const pace: Pace = { name: looksOf(db, claim.among?.key), perSecond: maxRps };
  return db.transaction().execute(async (transaction) => {
    const { turns, from } = await turnsNow(transaction, pace, claim.now);
    if (turns === 0) return [];
    const claimed = await claimDueRuns(transaction, { ...claim, limit: Math.min(claim.limit, turns) });
    if (claimed.length > 0) await useTurns(transaction, pace, { turns: claimed.length, from });
    return claimed;
  });
}

/** Opening a stream is a request like a poll, and counts against the same rate: how long to wait before it is sent. */
export const permitStream = (
  db: Database,
  { maxRps, key, now }: { maxRps: number; key: string | undefined; now: number },
): Promise<number> =>
  db
    .transaction()
    .execute((transaction) => reserveTurn(transaction, { name: looksOf(db, key), perSecond: maxRps }, now));

/**
 * Of all processes exactly one gets a run that is due, and sets when the next may. Not while somebody
 * looks: a new epoch would make a look that takes longer than the interval worthless, and the next one, and the next.
 */
export async function claimDueRuns(db: Database, claim: Omit<Claim, "maxRps">): Promise<ClaimedRun[]> {
  const chosen = await dueInFairOrder(db, claim);
  if (chosen.length === 0) return [];
  const due = db.selectFrom("research_tasks").select("task_id").where("task_id", "in", chosen);
  const rows = await db
    // Looked up once: what passes over rows finds others the second time, and more than the limit.
    .with(
      (name) => name("due").materialized(),
      () => passingOver(db, due),
    )
    .updateTable("research_tasks")
    .set((set) => ({
      lease_owner: claim.processId,
      lease_epoch: set("lease_epoch", "+", 1),
      lease_until: claim.now + LOOK_LEASE_MS,
      next_poll_at: claim.nextPollAt,
    }))
    .where("task_id", "in", (select) => select.selectFrom("due").select("due.task_id"))
    // Once more, for what another has claimed while this statement was looking.
    .where("next_poll_at", "<=", claim.now)
    .where(unleased(claim.now))
    // Not all of the row: figures that a driver cannot read would keep every other run from being polled.
    .returning(CLAIMED_COLUMNS)
    .execute();
  const broken = rows.filter((row) => !isPollable(row)).map(({ task_id }) => task_id);
  if (broken.length > 0) await setAside(db, broken, claim.now);
  return rows.flatMap((row) =>
    row.interaction_id === null || broken.includes(row.task_id)
      ? []
      : [
          {
            taskId: row.task_id,
            query: row.query,
            interactionId: row.interaction_id,
            status: RUN_STATUSES.find((status) => status === row.status) ?? "failed",
            agent: row.model ?? "",
            epoch: row.lease_epoch,
            createdAt: row.created_at,
            deadlineAt: row.deadline_at ?? Number.MAX_SAFE_INTEGER,
            cancelRequestedAt: row.cancel_requested_at ?? undefined,
            keepPartial: row.keep_partial === 1,
            progress: row.progress,
            currentAction: row.current_action ?? undefined,
            completedAt: row.completed_at ?? row.created_at,
          },
        ],
  );
}

/** A run that cannot be read is not given up: whoever repairs its row finds it polled again. */
async function setAside(db: Database, taskIds: string[], now: number): Promise<void> {
  for (const taskId of taskIds) noteUnreadable(taskId);
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: now + SET_ASIDE_MS, lease_until: null })
    .where("task_id", "in", taskIds)
    .execute();
}

const SET_ASIDE_MS = 10 * 60_000;

const CLAIMED_COLUMNS = [
  "task_id",
  "query",
  "interaction_id",
  "status",
  "model",
  "lease_epoch",
  "created_at",
  "deadline_at",
  "cancel_requested_at",
  "keep_partial",
  "progress",
  "current_action",
  "completed_at",
] as const;

/** How many are being followed: they share the allowed requests. */
export async function countFollowed(db: Database): Promise<number> {
  const row = await db
    .selectFrom("research_tasks")
    .select((select) => select.fn.countAll<number>().as("running"))
    .where("next_poll_at", "is not", null)
    .executeTakeFirstOrThrow();
  return row.running;
}

/** When the next look can be: a run must be due, and there must be a turn. */
export async function nextLookAt(db: Database, now: number, among?: Among): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("next_poll_at", "is not", null)
    // What somebody is looking at cannot be claimed, however long it is due.
    .where(unleased(now))
    .where(handedTo(among))
    .orderBy("next_poll_at")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined || row.next_poll_at === null) return undefined;
  const wait = await waitForTurn(db, looksOf(db, among?.key), now);
  return wait > 0 ? Math.max(row.next_poll_at, now + wait) : row.next_poll_at;
}

export async function pollAgainAt(
  db: Database,
  run: { taskId: string; epoch: number },
  at: number | null,
): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: at, lease_until: null })
    .where("task_id", "=", run.taskId)
    .where("lease_epoch", "=", run.epoch)
    .execute();
}

/** The look is over; when the next is due stands in the row. */
export async function releaseRun(db: Database, run: { taskId: string; epoch: number }): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ lease_until: null })
    .where("task_id", "=", run.taskId)
    .where("lease_epoch", "=", run.epoch)
    .where("lease_until", "is not", null)
    .execute();
}

/** What stands under this process's name and is none of the looks that it knows of is due at once. */
export async function releaseUnheard(
  db: Database,
  { processId, looking }: { processId: string; looking: ReadonlySet<string> },
): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: 0, lease_until: null })
    .where("lease_owner", "=", processId)
    .where("next_poll_at", "is not", null)
    .where("lease_until", "is not", null)
    .where("task_id", "not in", ["", ...looking])
    .execute();
}

/** No look is put off for longer: such a time was written before the clock was set back. */
export async function bringForward(db: Database, { now, furthest }: { now: number; furthest: number }): Promise<void> {
  const row = await db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("next_poll_at", ">", furthest)
    .limit(1)
    .executeTakeFirst();
  // Nearly always: and an update that changes nothing would still wait for the write lock.
  if (row === undefined) return;
  await db.updateTable("research_tasks").set({ next_poll_at: now }).where("next_poll_at", ">", furthest).execute();
}

/** Somebody waits for it: it comes before all that are only due, of which there may be thousands. */
export async function pollNow(db: Database, taskId: string): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: 0 })
    .where("task_id", "=", taskId)
    .where("status", "=", "running_async")
    .execute();
}

/** Google still works on it, as far as this installation knows. */
export async function isUnderWay(db: Database, taskId: string): Promise<boolean> {
  const row = await db.selectFrom("research_tasks").select("status").where("task_id", "=", taskId).executeTakeFirst();
  return row?.status === "running_async";
}

/** Google asked for a pause: it holds for every process that asks with the same key. */
export const pauseAllPolls = (db: Database, pause: { ms: number; now: number }, key?: string): Promise<void> =>
  holdFor(db, looksOf(db, key), pause);

/** What a dead process was polling is due at once. */
export async function releaseFrom(db: Database, processIds: string[], now: number): Promise<number> {
  if (processIds.length === 0) return 0;
  const released = await db
    .updateTable("research_tasks")
    .set({ next_poll_at: now, lease_until: null })
    .where("next_poll_at", "is not", null)
    .where("lease_owner", "in", processIds)
    .where("lease_until", "is not", null)
    .executeTakeFirst();
  return Number(released.numUpdatedRows);
}

export async function leaseHolders(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("lease_owner")
    .distinct()
    .where("next_poll_at", "is not", null)
    .where("lease_until", "is not", null)
    .execute();
  return rows.flatMap(({ lease_owner }) => (lease_owner === null ? [] : [lease_owner]));
}

/** A plain read: it works while nothing can be written. */
export async function unfinishedInteractions(db: Database, limit: number, among?: Among) {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "query", "interaction_id", "enable_notifications"])
    .where("status", "=", "running_async")
    .where("interaction_id", "is not", null)
    .where(handedTo(among))
    .orderBy("next_poll_at")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    query: row.query,
    interactionId: row.interaction_id ?? "",
    enableNotifications: row.enable_notifications === 1,
  }));
}
