/** The SQL of the table of runs as a queue: which run is due, which process polls it, and when it is polled next. */

import { type ExpressionBuilder, sql } from "kysely";
import type { PollQueue } from "../../queue/queue.ts";
import type { Database, Tables } from "../../store/database.ts";
import { isShared, progressAtLeast } from "../../store/dialect.ts";
import {
  pauseFor,
  type RateLimit,
  reservePermit,
  availablePermits,
  takePermits,
  msUntilPermit,
} from "../../store/rate-limiter.ts";
import { POLL_LEASE_MS } from "../lease.ts";
import { FOLLOWED_COLUMNS, type FollowedRun, followedRunOf, TOKENS_COLUMN } from "../poll/followed-run.ts";
import { progressColumn, type Seen, seenColumns } from "../poll/seen-store.ts";
import { noteUnreadable } from "../unreadable.ts";

export interface Claim {
  processId: string;
  limit: number;
  maxRps: number;
  now: number;
  /** When each of them is due again. */
  nextPollAt: number;
}

/** On a shared database each key has its own rate. */
export const rateOf = (db: Database, key: string | undefined): string =>
  key !== undefined && isShared(db) ? `looks:${key}` : "looks";

/** However many are due, and in however many processes: together they ask Google no more often than is allowed. */
export function claimWithinRateLimit(db: Database, { maxRps, ...claim }: Claim): Promise<FollowedRun[]> {
  const pace: RateLimit = { name: rateOf(db, undefined), perSecond: maxRps };
  return db.transaction().execute(async (transaction) => {
    const { permits, from } = await availablePermits(transaction, pace, claim.now);
    if (permits === 0) return [];
    const claimed = await claimDueRuns(transaction, { ...claim, limit: Math.min(claim.limit, permits) });
    if (claimed.length > 0) await takePermits(transaction, pace, { permits: claimed.length, from });
    return claimed;
  });
}

/** Opening a stream is a request like a poll, and counts against the same rate: how long to wait before it is sent. */
export const permitStream = (
  db: Database,
  { maxRps, key, now }: { maxRps: number; key: string | undefined; now: number },
): Promise<number> => reservePermit(db, { name: rateOf(db, key), perSecond: maxRps }, now);

/** No process polls it, or none has for longer than a poll can take. */
const unleased = (now: number) => (lease: ExpressionBuilder<Tables, "research_tasks">) =>
  lease.or([
    lease("lease_until", "is", null),
    lease("lease_until", "<=", now),
    // Written before the clock was set back.
    lease("lease_until", ">", now + 2 * POLL_LEASE_MS),
  ]);

/** The first of every owner, then the second of every owner, and so on; of each those that are due longest. */
const inFairOrder = (db: Database, now: number) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom("research_tasks")
        .select(["task_id", "next_poll_at", IN_TURN])
        .where("next_poll_at", "<=", now)
        .where("interaction_id", "is not", null)
        .where(unleased(now))
        .as("waiting"),
    )
    .select("task_id")
    .orderBy("turn")
    .orderBy("next_poll_at");

const IN_TURN = sql<number>`row_number() over (partition by owner order by next_poll_at)`.as("turn");

/**
 * Of all processes exactly one gets a run that is due, and sets when the next may. Not while somebody
 * looks: a new epoch would make a look that takes longer than the interval worthless, and the next one, and the next.
 */
export async function claimDueRuns(db: Database, claim: Omit<Claim, "maxRps">): Promise<FollowedRun[]> {
  const rows = await db
    .updateTable("research_tasks")
    .set((set) => ({
      lease_owner: claim.processId,
      lease_epoch: set("lease_epoch", "+", 1),
      lease_until: claim.now + POLL_LEASE_MS,
      next_poll_at: claim.nextPollAt,
    }))
    .where("task_id", "in", (select) =>
      select.selectFrom(inFairOrder(db, claim.now).limit(claim.limit).as("due")).select("due.task_id"),
    )
    // Once more, for what another has claimed meanwhile.
    .where("next_poll_at", "<=", claim.now)
    .where(unleased(claim.now))
    // Not all of the row: figures that a driver cannot read would keep every other run from being polled.
    .returning(FOLLOWED_COLUMNS)
    .returning(TOKENS_COLUMN)
    .execute();
  const runs = rows.map((row) => followedRunOf(row));
  const broken = rows.filter((_, n) => runs[n] === undefined).map(({ task_id }) => task_id);
  if (broken.length > 0) await setAside(db, broken, claim.now);
  return runs.filter((run) => run !== undefined);
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

/** How long a damaged row waits for its repair. */
export const SET_ASIDE_MS = 10 * 60_000;

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
export async function nextClaimAt(db: Database, now: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("next_poll_at", "is not", null)
    // What somebody is looking at cannot be claimed, however long it is due.
    .where(unleased(now))
    .orderBy("next_poll_at")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined || row.next_poll_at === null) return undefined;
  const wait = await msUntilPermit(db, rateOf(db, undefined), now);
  return wait > 0 ? Math.max(row.next_poll_at, now + wait) : row.next_poll_at;
}

export interface Settling {
  /** Undefined: as the claim has set it. Null: the run is not followed any more. */
  nextPollAt?: number | null | undefined;
  seen?: Seen | undefined;
}

/** The poll is over: what it saw, when the next one is due, and the end of its lease are one write. */
export async function settlePoll(
  db: Database,
  run: Pick<FollowedRun, "taskId" | "epoch">,
  { nextPollAt, seen }: Settling = {},
): Promise<void> {
  await db
    .updateTable("research_tasks")
    .set({ lease_until: null })
    .$if(nextPollAt !== undefined, (update) => update.set({ next_poll_at: nextPollAt ?? null }))
    .$if(seen !== undefined, (update) =>
      seen === undefined
        ? update
        : update
            .set((row) => ({ progress: progressAtLeast(row, progressColumn(seen)), ...seenColumns(seen) }))
            // What ended the run meanwhile has ended the lease too.
            .where("status", "=", "running_async"),
    )
    .where("task_id", "=", run.taskId)
    .where("lease_epoch", "=", run.epoch)
    .where("next_poll_at", "is not", null)
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

/** A caller waits for it: it comes before all that are only due, of which there may be thousands. */
export async function pollNow({ db, queue }: { db: Database; queue: PollQueue }, taskId: string): Promise<boolean> {
  const rows = db.selectFrom("research_tasks").select("poll_key as key").where("task_id", "=", taskId);
  const run = queue.isEngine ? await rows.where("status", "=", "running_async").executeTakeFirst() : undefined;
  // One that has ended needs none.
  if (queue.isEngine) return run === undefined || queue.pollNow({ taskId, key: run.key });
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: 0 })
    .where("task_id", "=", taskId)
    .where("status", "=", "running_async")
    .execute();
  return true;
}

/** Google still works on it, as far as this installation knows. */
export async function isUnderWay(db: Database, taskId: string): Promise<boolean> {
  const row = await db.selectFrom("research_tasks").select("status").where("task_id", "=", taskId).executeTakeFirst();
  return row?.status === "running_async";
}

/** Google asked for a pause: it holds for every process that asks with the same key. */
export const pauseAllPolls = (db: Database, pause: { ms: number; now: number }, key?: string): Promise<void> =>
  pauseFor(db, rateOf(db, key), pause);

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

/** Every process that has a run: to poll, to start or to search for. */
export async function runHolders(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("lease_owner")
    .distinct()
    .where((run) =>
      run.or([
        run("status", "in", ["pending", "running"]),
        run.and([run("next_poll_at", "is not", null), run("lease_until", "is not", null)]),
      ]),
    )
    .execute();
  return rows.flatMap(({ lease_owner }) => lease_owner ?? []);
}

/** A plain read: it works while nothing can be written. */
export async function unfinishedInteractions(db: Database, limit: number) {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "query", "interaction_id", "enable_notifications"])
    .where("status", "=", "running_async")
    .where("interaction_id", "is not", null)
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
