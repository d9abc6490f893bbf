/** Reads how the runs in progress and the processes that poll them are doing. */

import { type QueueCounts, type QueueStats, readQueueStats } from "../../queue/queue-stats.ts";
import type { Database } from "../../store/database.ts";
import { isShared, databaseNow } from "../../store/dialect.ts";
import { type PollingProcess, pollingProcesses } from "../../store/processes.ts";
import { type SummedPolls, sumPolls } from "../../telemetry/poll-counts.ts";

/** A poll may be late by one that is in flight at a killed process, and by the time until that is noticed. */
const MAX_LATE_MS = 60_000;

export interface FleetStatus {
  now: number;
  workers: PollingProcess[];
  runs: {
    inProgress: number;
    due: number;
    /** Due for longer than a poll may be late. */
    late: number;
    /** How long the first of those that are due has been so. */
    oldestDueMs: number;
    /** The run whose last poll was settled, or put off, the longest time ago. */
    oldest: { taskId: string; scheduledAt: number } | undefined;
    /** Their key is with no worker that responds. */
    withoutKey: number;
  };
  polls: SummedPolls;
  /** Where polls are jobs of an engine. */
  queues: QueueCounts[];
}

export async function readFleetStatus(db: Database, here: number): Promise<FleetStatus> {
  const now = await databaseNow(db, here);
  const workers = await pollingProcesses(db, here);
  const { queues, waiting } = isShared(db) ? await readQueueStats(db) : await dueInTable(db, now);
  const keys = new Set(workers.filter(({ responds }) => responds).map(({ key }) => key));
  // A poll whose key no worker has is not late but impossible, and counted as such.
  const possible = waiting?.filter(({ key }) => key === undefined || keys.size === 0 || keys.has(key));
  const due = possible?.flatMap(({ dueAt }) => (dueAt <= now ? [now - dueAt] : [])) ?? [];
  const since = Math.min(now, ...workers.map(({ startedAt }) => startedAt));
  const oldest = possible?.toSorted((one, other) => one.scheduledAt - other.scheduledAt)[0];
  return {
    now,
    workers,
    runs: {
      ...(await countFollowed(db, keys)),
      due: waiting === undefined ? queues.reduce((sum, { ready }) => sum + ready, 0) : due.length,
      late: due.filter((ms) => ms > MAX_LATE_MS).length,
      oldestDueMs: due.reduce((longest, ms) => Math.max(longest, ms), 0),
      oldest: oldest && { taskId: oldest.taskId, scheduledAt: oldest.scheduledAt },
    },
    polls: sumPolls(
      workers.map(({ polls }) => polls),
      { now: here, since },
    ),
    queues,
  };
}

async function countFollowed(
  db: Database,
  keys: ReadonlySet<string>,
): Promise<Pick<FleetStatus["runs"], "inProgress" | "withoutKey">> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["poll_key", (select) => select.fn.countAll<number>().as("runs")])
    .where("next_poll_at", "is not", null)
    // One that failed at its deadline for want of its key is still collected when the key comes, but needs no action.
    .where("status", "!=", "failed")
    .groupBy("poll_key")
    .execute();
  const sum = (some: typeof rows): number => some.reduce((total, { runs }) => total + runs, 0);
  return {
    inProgress: sum(rows),
    withoutKey: sum(rows.filter(({ poll_key }) => poll_key !== null && !keys.has(poll_key))),
  };
}

/** In a file the table of runs is the queue. */
async function dueInTable(db: Database, now: number): Promise<QueueStats> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "next_poll_at", "updated_at"])
    .where("next_poll_at", "<=", now)
    .execute();
  return {
    queues: [],
    waiting: rows.map((row) => ({
      taskId: row.task_id,
      key: undefined,
      // 0 says that a caller waits, not since when.
      dueAt: row.next_poll_at === 0 ? now : (row.next_poll_at ?? now),
      scheduledAt: row.updated_at,
    })),
  };
}
