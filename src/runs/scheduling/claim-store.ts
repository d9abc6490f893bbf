/** SQL that uses the table of runs as a poll queue: due runs, leases and next poll times. */

import { type ExpressionBuilder, type NotNull, sql } from "kysely";
import type { PollQueue } from "../../queue/queue.ts";
import type { Database, Tables } from "../../store/database.ts";
import { isShared, type OnDialect, progressAtLeast } from "../../store/dialect.ts";
import {
  pauseFor,
  type RateLimit,
  reservePermit,
  availablePermits,
  takePermits,
  msUntilPermit,
} from "../../store/rate-limiter.ts";
import { POLL_LEASE_MS } from "../lease.ts";
import { readPlan } from "../plan/run-plan.ts";
import { POLLED_COLUMNS, type PolledRun, polledRunOf } from "../poll/polled-run.ts";
import { progressColumn, type Seen, seenColumns } from "../poll/seen-store.ts";

export interface Claim {
  processId: string;
  limit: number;
  maxRps: number;
  now: number;
  /** The next poll time of the claimed runs. */
  nextPollAt: number;
}

/** Name of the rate limiter: on a shared database each key has its own. */
export const rateOf = (db: OnDialect, key: string | undefined): string =>
  key !== undefined && isShared(db) ? `polls:${key}` : "polls";

/** Claims due runs within the rate limit that all processes share. */
export function claimWithinRateLimit(db: Database, { maxRps, ...claim }: Claim): Promise<PolledRun[]> {
  const rateLimit: RateLimit = { name: rateOf(db, undefined), perSecond: maxRps };
  return db.transaction().execute(async (transaction) => {
    const { permits, from } = await availablePermits(transaction, rateLimit, claim.now);
    if (permits === 0) return [];
    const claimed = await claimDueRuns(transaction, { ...claim, limit: Math.min(claim.limit, permits) });
    if (claimed.length > 0) await takePermits(transaction, rateLimit, { permits: claimed.length, from });
    return claimed;
  });
}

/** Reserves a permit for opening a stream, which counts against the poll rate. Returns the time to wait in ms. */
export const permitStream = (
  db: Database,
  { maxRps, key, now }: { maxRps: number; key: string | undefined; now: number },
): Promise<number> => reservePermit(db, { name: rateOf(db, key), perSecond: maxRps }, now);

/** The run has no poll lease, or an expired one. */
const unleased = (now: number) => (lease: ExpressionBuilder<Tables, "research_tasks">) =>
  lease.or([
    lease("lease_until", "is", null),
    lease("lease_until", "<=", now),
    // Lease written before the clock was set back.
    lease("lease_until", ">", now + 2 * POLL_LEASE_MS),
  ]);

/** Longest due first. A correlated subquery: `waiting.owner` is the owner of the outer query. */
const longestDueOfOwner = (db: Database, { now, limit }: Pick<Claim, "now" | "limit">) =>
  db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("owner", "=", sql.ref<string>("waiting.owner"))
    .where("next_poll_at", "<=", now)
    .where("interaction_id", "is not", null)
    .where(unleased(now))
    .orderBy("next_poll_at")
    .limit(limit);

/**
 * Round-robin over owners, longest due first within each owner. Of each owner, only as many runs are ranked as can be
 * claimed: ranking ten thousand due runs took 7 ms for each claim, which takes one.
 */
const dueInFairOrder = (db: Database, claim: Pick<Claim, "now" | "limit">) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom((owners) =>
          owners
            .selectFrom("research_tasks")
            .select("owner")
            .distinct()
            .where("next_poll_at", "<=", claim.now)
            .as("waiting"),
        )
        .innerJoin("research_tasks as run", (join) =>
          join.on((on) => on("run.task_id", "in", longestDueOfOwner(db, claim))),
        )
        .select(["run.task_id", "run.next_poll_at", OWNER_RANK])
        .as("ranked"),
    )
    .select("task_id")
    .orderBy("owner_rank")
    .orderBy("next_poll_at")
    .limit(claim.limit);

const OWNER_RANK = sql<number>`row_number() over (partition by run.owner order by run.next_poll_at)`.as("owner_rank");

/**
 * Leases due runs to this process; each run goes to exactly one. Leased runs are skipped: a new epoch would invalidate
 * a poll that takes longer than the interval, and every poll after it.
 */
export async function claimDueRuns(db: Database, claim: Omit<Claim, "maxRps">): Promise<PolledRun[]> {
  const rows = await db
    .updateTable("research_tasks")
    .set((set) => ({
      lease_owner: claim.processId,
      lease_epoch: set("lease_epoch", "+", 1),
      lease_until: claim.now + POLL_LEASE_MS,
      next_poll_at: claim.nextPollAt,
    }))
    .where("task_id", "in", (select) => select.selectFrom(dueInFairOrder(db, claim).as("due")).select("due.task_id"))
    // Checked again, because another process may have claimed the run since the subquery.
    .where("next_poll_at", "<=", claim.now)
    .where(unleased(claim.now))
    .returning(POLLED_COLUMNS)
    .execute();
  return rows.map(polledRunOf);
}

export async function countPolledRuns(db: Database): Promise<number> {
  const row = await db
    .selectFrom("research_tasks")
    .select((select) => select.fn.countAll<number>().as("running"))
    .where("next_poll_at", "is not", null)
    .executeTakeFirstOrThrow();
  return row.running;
}

/** The earliest time, from now on, at which a run is due and a permit is available. */
export async function nextClaimAt(db: Database, now: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("next_poll_at", "is not", null)
    // A leased run cannot be claimed, however long it is due.
    .where(unleased(now))
    .orderBy("next_poll_at")
    .limit(1)
    .$narrowType<{ next_poll_at: NotNull }>()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const wait = await msUntilPermit(db, rateOf(db, undefined), now);
  return Math.max(row.next_poll_at, now + wait);
}

export interface Settling {
  /** Undefined keeps the time set by the claim; null ends polling of the run. */
  nextPollAt?: number | null | undefined;
  seen?: Seen | undefined;
}

/** Ends a poll: stores what it saw and the next poll time, and releases the lease, in one write. */
export async function settlePoll(
  db: Database,
  run: Pick<PolledRun, "taskId" | "epoch">,
  { nextPollAt, seen }: Settling = {},
): Promise<void> {
  const release = db
    .updateTable("research_tasks")
    .set(nextPollAt === undefined ? { lease_until: null } : { lease_until: null, next_poll_at: nextPollAt })
    .where("task_id", "=", run.taskId)
    .where("lease_epoch", "=", run.epoch)
    .where("next_poll_at", "is not", null);
  if (seen === undefined) return void (await release.execute());
  await release
    .set((row) => ({ progress: progressAtLeast(row, progressColumn(seen)), ...seenColumns(seen) }))
    // A run that has ended in the meantime no longer has a lease.
    .where("status", "=", "running_async")
    .execute();
}

/** Makes runs due whose next poll time is implausibly late: it was written before the clock was set back. */
export async function resetFarPolls(db: Database, { now, latest }: { now: number; latest: number }): Promise<void> {
  const far = await db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("next_poll_at", ">", latest)
    .limit(1)
    .executeTakeFirst();
  // The usual case: an update that changes nothing would still wait for the write lock.
  if (far === undefined) return;
  await db.updateTable("research_tasks").set({ next_poll_at: now }).where("next_poll_at", ">", latest).execute();
}

/** Schedules the run before all due runs, because a caller waits for it. Returns false if its poll is in flight. */
export async function pollNow({ db, queue }: { db: Database; queue: PollQueue }, taskId: string): Promise<boolean> {
  if (queue.usesPgBoss) {
    const run = await db
      .selectFrom("research_tasks")
      .select("poll_key as key")
      .where("task_id", "=", taskId)
      .where("status", "=", "running_async")
      .executeTakeFirst();
    // A run that has ended needs no poll.
    return run === undefined || queue.pollNow({ taskId, key: run.key });
  }
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: 0 })
    .where("task_id", "=", taskId)
    .where("status", "=", "running_async")
    .execute();
  return true;
}

/** Whether the stored state says that Google is working on the run. */
export async function isRunningAtGoogle(db: Database, taskId: string): Promise<boolean> {
  const row = await db.selectFrom("research_tasks").select("status").where("task_id", "=", taskId).executeTakeFirst();
  return row?.status === "running_async";
}

/** Pauses the polls of all processes with the same key, as requested by Google. */
export const pauseAllPolls = (db: Database, pause: { ms: number; now: number }, key?: string): Promise<void> =>
  pauseFor(db, rateOf(db, key), pause);

/** Releases the poll leases of dead processes, so that their runs are due at once. */
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
  return rows.flatMap(({ lease_owner }) => lease_owner ?? []);
}

/** Every process that polls, starts or executes a run. */
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

/** Read-only, for use while the database rejects writes. */
export async function unfinishedInteractions(db: Database, limit: number) {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "query", "interaction_id", "enable_notifications", "plan_json"])
    .where("status", "=", "running_async")
    .where("interaction_id", "is not", null)
    .orderBy("next_poll_at")
    .limit(limit)
    .$narrowType<{ interaction_id: NotNull }>()
    .execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    query: row.query,
    interactionId: row.interaction_id,
    enableNotifications: row.enable_notifications === 1,
    isPlanning: readPlan(row.plan_json)?.isPlanning,
  }));
}
