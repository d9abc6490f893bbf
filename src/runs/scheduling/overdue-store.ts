/**
 * Polls that are due although no process makes them, as at a terminal. A run is polled before it is read. SQLite only: on
 * PostgreSQL workers poll, by pg-boss.
 */

import { compiledQuery } from "../../store/compiled-query.ts";
import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import type { Clock } from "../../platform/clock.ts";
import { currentOf } from "../conversation-store.ts";
import type { Runner } from "./runner.ts";

/** How late a poll may be when the process that held it was killed and this is yet to be detected. */
export const MAX_LATE_MS = 60_000;

interface Overdue {
  owner: string;
  /** Undefined: any run of the owner. */
  taskId: string | undefined;
  now: number;
  limit: number;
}

/** The newest runs whose poll is due and not in flight. */
async function overdueRuns(db: Database, { owner, taskId, now, limit }: Overdue): Promise<string[]> {
  if (isShared(db)) return [];
  const rows = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("owner", "=", owner)
    .where("next_poll_at", "<=", now)
    .where("interaction_id", "is not", null)
    .where((run) => run.or([run("lease_until", "is", null), run("lease_until", "<=", now)]))
    .$if(taskId !== undefined, (query) => query.where("task_id", "=", taskId ?? ""))
    .orderBy("created_at", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ task_id }) => task_id);
}

/** Whether each of these runs was polled, or is no longer polled, since they were overdue at this time. */
async function arePolled(db: Database, taskIds: string[], since: number): Promise<boolean> {
  const waiting = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("task_id", "in", taskIds)
    .where((run) => run.or([run("next_poll_at", "<=", since), run("lease_until", "is not", null)]))
    .limit(1)
    .executeTakeFirst();
  return waiting === undefined;
}

/** Since when at least nothing has polled the run; undefined while its polls are in time. */
export async function unpolledSince(db: Database, taskId: string, now: number): Promise<number | undefined> {
  if (isShared(db)) return undefined;
  const [row] = await dueTimeOf(db, { taskId });
  // 0 marks a run that a caller waits for; it is not a due time.
  const dueAt = row?.next_poll_at ?? 0;
  return dueAt > 0 && now - dueAt > MAX_LATE_MS ? dueAt : undefined;
}

const dueTimeOf = compiledQuery((db, { taskId }: { taskId: string }) =>
  db
    .selectFrom("research_tasks")
    .select("next_poll_at")
    .where("task_id", "=", taskId)
    .where("status", "=", "running_async"),
);

export interface OverdueDeps {
  db: Database;
  clock: Clock;
  /** Called only if a run is overdue. */
  runner: () => Promise<Pick<Runner, "start" | "wake">>;
  signal: AbortSignal;
}

/** Of a list. Each poll is a request to Google. */
const MAX_RUNS = 5;
/** A reader waits no longer for Google; the poll may still end before the process does. */
const MAX_WAIT_MS = 4_000;
const CHECK_MS = 50;

/** `taskId`: only the run that this id stands for. `onPoll` is called before the first request. */
export async function pollOverdue(
  { db, clock, runner: openRunner, signal }: OverdueDeps,
  { owner, taskId, onPoll }: { owner: string; taskId?: string | undefined; onPoll: () => void },
): Promise<void> {
  const now = clock.now();
  const only = taskId === undefined ? undefined : (await currentOf(db, owner, taskId)).taskId;
  const taskIds = await overdueRuns(db, { owner, taskId: only, now, limit: MAX_RUNS });
  if (taskIds.length === 0) return;
  onPoll();
  const until = clock.monotonic() + MAX_WAIT_MS;
  const runner = await openRunner();
  // The runs are due already. Their due times say since when nobody has polled them, so they stay.
  runner.start();
  runner.wake();
  while (!(await arePolled(db, taskIds, now)) && clock.monotonic() < until && !signal.aborted) {
    await clock.sleep(CHECK_MS, signal).catch(() => undefined);
  }
}
