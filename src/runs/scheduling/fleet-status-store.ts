/** SQL for the status of the fleet: polling processes, runs, and late polls. */

import { type QueueCounts, type QueueStats, readQueueStats } from "../engine/boss-engine.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow, isShared } from "../../store/dialect.ts";
import { type PollingProcess, pollingProcesses } from "../../store/processes.ts";
import { countActive } from "../schedules/schedule-store.ts";
import { MAX_LATE_MS } from "./overdue-store.ts";
import { mayBringReport } from "./polled-store.ts";
import { type SummedPolls, sumPolls } from "../poll/poll-counts.ts";

export interface FleetStatus {
  now: number;
  workers: PollingProcess[];
  runs: {
    inProgress: number;
    due: number;
    /** Due for longer than `MAX_LATE_MS`. */
    late: number;
    /** How long the oldest due poll has been due. */
    oldestDueMs: number;
    /** The run whose poll was scheduled the longest time ago. */
    oldest: { taskId: string; scheduledAt: number } | undefined;
    /** Runs whose key no responding worker has. */
    withoutKey: number;
  };
  /** Schedules that are active. */
  schedules: number;
  polls: SummedPolls;
  /** Only with pg-boss; empty on SQLite. */
  queues: QueueCounts[];
}

export async function readFleetStatus(db: Database, here: number): Promise<FleetStatus> {
  const now = await databaseNow(db, here);
  const workers = await pollingProcesses(db, here);
  const { queues, waiting } = isShared(db) ? await readQueueStats(db) : await dueInTable(db, now);
  const keys = new Set(workers.filter(({ responds }) => responds).map(({ key }) => key));
  // A poll whose key no worker has is counted under `withoutKey`, not as late.
  const possible = waiting?.filter(({ key }) => key === undefined || keys.size === 0 || keys.has(key));
  const due = possible?.flatMap(({ dueAt }) => (dueAt <= now ? [now - dueAt] : [])) ?? [];
  const since = Math.min(now, ...workers.map(({ startedAt }) => startedAt));
  const oldest = possible?.toSorted((one, other) => one.scheduledAt - other.scheduledAt)[0];
  return {
    now,
    workers,
    runs: {
      ...(await countPolledRuns(db, { keys, now })),
      due: waiting === undefined ? queues.reduce((sum, { ready }) => sum + ready, 0) : due.length,
      late: due.filter((ms) => ms > MAX_LATE_MS).length,
      oldestDueMs: due.reduce((longest, ms) => Math.max(longest, ms), 0),
      oldest: oldest && { taskId: oldest.taskId, scheduledAt: oldest.scheduledAt },
    },
    schedules: await countActive(db),
    polls: sumPolls(
      workers.map(({ polls }) => polls),
      { now: here, since },
    ),
    queues,
  };
}

async function countPolledRuns(
  db: Database,
  { keys, now }: { keys: ReadonlySet<string>; now: number },
): Promise<Pick<FleetStatus["runs"], "inProgress" | "withoutKey">> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["poll_key", (select) => select.fn.countAll<number>().as("runs")])
    .where("next_poll_at", "is not", null)
    .where(mayBringReport(now))
    .groupBy("poll_key")
    .execute();
  const sum = (some: typeof rows): number => some.reduce((total, { runs }) => total + runs, 0);
  return {
    inProgress: sum(rows),
    withoutKey: sum(rows.filter(({ poll_key }) => poll_key !== null && !keys.has(poll_key))),
  };
}

/** On SQLite the table of runs is the queue. */
async function dueInTable(db: Database, now: number): Promise<QueueStats> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "next_poll_at", "updated_at"])
    .where("next_poll_at", "<=", now)
    .where(mayBringReport(now))
    .where((run) => run.or([run("lease_until", "is", null), run("lease_until", "<=", now)]))
    .execute();
  return {
    queues: [],
    waiting: rows.map((row) => ({
      taskId: row.task_id,
      key: undefined,
      // 0 marks a run that a caller waits for; it is not a due time.
      dueAt: row.next_poll_at === 0 ? now : (row.next_poll_at ?? now),
      scheduledAt: row.updated_at,
    })),
  };
}
