/** SQL of the engine for SQLite: due times and leases in the table of runs. */

import { type ExpressionBuilder, sql } from "kysely";
import type { Log } from "../../platform/log.ts";
import type { Database, Tables } from "../../store/database.ts";
import { processLiveness } from "../../store/processes.ts";
import { type Claim, type Lane, SLOW_RANK } from "./engine.ts";

/** A poll takes seconds, and a dead process is usually detected before its lease expires. */
const LEASE_MS = 60_000;

type Run = ExpressionBuilder<Tables, "research_tasks">;

const unleased = (now: number) => (run: Run) =>
  run.or([
    run("lease_until", "is", null),
    run("lease_until", "<=", now),
    // Written before the clock was set back.
    run("lease_until", ">", now + 2 * LEASE_MS),
  ]);

const inLane = (lane: Lane) => (run: Run) => run("poll_rank", lane === "slow" ? "=" : ">", SLOW_RANK);

interface Fetch {
  processId: string;
  lane: Lane;
  limit: number;
  now: number;
}

/** Leases what is due to this process; each run goes to exactly one. Unless it is settled, it is due again then. */
export async function claimDue(db: Database, { processId, lane, limit, now }: Fetch): Promise<Claim[]> {
  const due = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("next_poll_at", "<=", now)
    .where("interaction_id", "is not", null)
    .where(unleased(now))
    .where(inLane(lane))
    .orderBy(sql`case when next_poll_at = 0 then 0 else 1 end`)
    .orderBy("poll_rank", "desc")
    .orderBy("next_poll_at")
    .limit(limit)
    .execute();
  const ids = due.map(({ task_id }) => task_id);
  // A claim that finds nothing would still wait for the write lock.
  if (ids.length === 0) return [];
  const until = now + LEASE_MS;
  const rows = await db
    .updateTable("research_tasks")
    .set({ lease_owner: processId, lease_until: until, next_poll_at: until })
    .where("task_id", "in", ids)
    // Checked again, because another process may have claimed the run since it was read.
    .where("next_poll_at", "<=", now)
    .where(unleased(now))
    .returning("task_id")
    .execute();
  const claimed = new Set(rows.map(({ task_id }) => task_id));
  return ids.filter((id) => claimed.has(id)).map((taskId) => ({ taskId, fence: String(until) }));
}

interface Release {
  processId: string;
  claim: Claim;
  set: { next_poll_at?: number; poll_rank?: number };
}

export async function release(db: Database, { processId, claim: { taskId, fence }, set }: Release): Promise<boolean> {
  const row = await db
    .updateTable("research_tasks")
    .set({ lease_until: null, ...set })
    .where("task_id", "=", taskId)
    .where("lease_owner", "=", processId)
    .where("lease_until", "=", Number(fence))
    .where("next_poll_at", "is not", null)
    .returning("task_id")
    .executeTakeFirst();
  return row !== undefined;
}

export async function hasten(db: Database, taskId: string, now: number): Promise<boolean> {
  const row = await db
    .updateTable("research_tasks")
    // Also the mark of a run that a caller waits for.
    .set({ next_poll_at: 0 })
    .where("task_id", "=", taskId)
    .where("next_poll_at", "is not", null)
    .where(unleased(now))
    .returning("task_id")
    .executeTakeFirst();
  return row !== undefined;
}

export async function nextDueAt(db: Database, now: number): Promise<number | undefined> {
  const row = await db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("next_poll_at", "is not", null)
    .where("interaction_id", "is not", null)
    // A leased run cannot be claimed, however long it is due.
    .where(unleased(now))
    .orderBy("next_poll_at")
    .limit(1)
    .executeTakeFirst();
  return row?.next_poll_at ?? undefined;
}

/** Makes what dead processes held due at once. */
export async function releaseDead(db: Database, log: Log, now: number): Promise<void> {
  const held = db
    .selectFrom("research_tasks")
    .where("next_poll_at", "is not", null)
    .where("lease_until", "is not", null);
  const rows = await held.select("lease_owner").distinct().execute();
  const holders = rows.flatMap(({ lease_owner }) => lease_owner ?? []);
  const liveness = await processLiveness(db, holders);
  const dead = holders.filter((holder) => liveness.get(holder) === "dead");
  if (dead.length === 0) return;
  const released = await db
    .updateTable("research_tasks")
    .set({ next_poll_at: now, lease_until: null })
    .where("next_poll_at", "is not", null)
    .where("lease_owner", "in", dead)
    .where("lease_until", "is not", null)
    .executeTakeFirst();
  const count = Number(released.numUpdatedRows);
  if (count === 0) return;
  const runs = count === 1 ? "run of a process that ended is" : "runs of a process that ended are";
  log.info(`${count} research ${runs} polled again.`);
}

/** Makes runs due whose time is implausibly late: it was written before the clock was set back. */
export async function resetFar(db: Database, { now, latest }: { now: number; latest: number }): Promise<void> {
  const far = db.selectFrom("research_tasks").select("task_id").where("next_poll_at", ">", latest).limit(1);
  // The usual case: an update that changes nothing would still wait for the write lock.
  if ((await far.executeTakeFirst()) === undefined) return;
  await db.updateTable("research_tasks").set({ next_poll_at: now }).where("next_poll_at", ">", latest).execute();
}
