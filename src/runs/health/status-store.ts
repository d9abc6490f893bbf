/** Reads how the runs in progress and the processes that poll them are doing. */

import { type QueueStats, readQueueStats } from "../../queue/queue-stats.ts";
import type { Database } from "../../store/database.ts";
import { isShared, nowOf } from "../../store/dialect.ts";
import { type PollingProcess, pollingProcesses } from "../../store/processes.ts";
import { type FleetStatus, MAX_LATE_MS } from "./health.ts";
import { sumPolls } from "./poll-counts.ts";

export async function readFleetStatus(db: Database, here: number): Promise<FleetStatus> {
  const now = await nowOf(db, here);
  const workers = await pollingProcesses(db, here);
  const { queues, waiting } = isShared(db) ? await readQueueStats(db) : await dueInTable(db, now);
  const late = waiting?.filter(({ dueAt }) => dueAt < now - MAX_LATE_MS) ?? [];
  const since = Math.min(now, ...workers.map(({ startedAt }) => startedAt));
  const oldest = waiting?.toSorted((one, other) => one.scheduledAt - other.scheduledAt)[0];
  return {
    now,
    workers,
    runs: {
      ...(await countFollowed(db, workers)),
      due: waiting?.filter(({ dueAt }) => dueAt <= now).length ?? queues.reduce((sum, { ready }) => sum + ready, 0),
      late: late.length,
      latestByMs: Math.max(0, ...late.map(({ dueAt }) => now - dueAt)),
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
  workers: PollingProcess[],
): Promise<Pick<FleetStatus["runs"], "inProgress" | "withoutKey">> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["poll_key", (select) => select.fn.countAll<number>().as("runs")])
    .where("next_poll_at", "is not", null)
    .groupBy("poll_key")
    .execute();
  const keys = new Set(workers.filter(({ responds }) => responds).map(({ key }) => key));
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
      // 0 says that a caller waits, not since when.
      dueAt: row.next_poll_at === 0 ? now : (row.next_poll_at ?? now),
      scheduledAt: row.updated_at,
    })),
  };
}
