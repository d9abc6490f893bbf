/** SQL of the announcements: each run of a schedule that has ended is announced once. */

import { sql, type Transaction } from "kysely";
import { LOCAL_OWNER } from "../../caller.ts";
import { announce } from "../../notifications/announce.ts";
import { changesNotification, notificationFor, unstartedNotification } from "../../notifications/desktop.ts";
import type { Database, Tables } from "../../store/database.ts";
import { lockExclusive } from "../../store/dialect.ts";
import { isListed } from "../conversation-store.ts";
import { FINISHED, type Run } from "../run.ts";
import type { Schedule, ScheduleProblem } from "./schedule.ts";
import { type ScheduledRun, scheduledRunOf } from "./schedule-store.ts";

export interface UntoldRun extends ScheduledRun {
  scheduleId: string;
  owner: string;
}

/** The runs of schedules that have ended and are not announced, the oldest first: a run begins when the last one has ended. */
export async function untoldRuns(db: Database): Promise<UntoldRun[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select(["schedule_id", "owner", "task_id", "status", "created_at"])
    .where("schedule_id", "is not", null)
    .where("announced", "is", null)
    .where("status", "in", FINISHED)
    .where(isListed)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({ ...scheduledRunOf(row), scheduleId: row.schedule_id ?? "", owner: row.owner }));
}

/** The run whose report was announced last, whatever the clock says of it. */
export const lastAnnounced = async (db: Database, scheduleId: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom("research_tasks")
      .select("task_id")
      .where("schedule_id", "=", scheduleId)
      .where("announced", "is not", null)
      .where("status", "=", "completed")
      .orderBy("announced", "desc")
      .limit(1)
      .executeTakeFirst()
  )?.task_id;

/**
 * Announces a run that has ended, unless the user cancelled it: by what changed since the one before it, or how it
 * ended. Of several processes one does, once; the desktop is that of the user of this machine.
 */
export function announceEnd(db: Database, { scheduleId, run, changes, now }: Announcement): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    // Two runs that are announced at once would get the same number.
    await lockExclusive(transaction, `announcements of:${scheduleId}`);
    const { numUpdatedRows } = await transaction
      .updateTable("research_tasks")
      .set((row) => ({
        announced: row
          .selectFrom("research_tasks as others")
          .select(sql<number>`coalesce(max(others.announced), 0) + 1`.as("next"))
          .where("others.schedule_id", "=", scheduleId),
      }))
      .where("task_id", "=", run.taskId)
      .where("announced", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n || run.status === "cancelled") return;
    const { taskId, owner, query, title = query, kind, completedAt = run.createdAt, error } = run;
    const isChanged = run.status === "completed" && changes !== undefined;
    const outcome = run.status === "completed" ? "completed" : "failed";
    const what = kind === "agent" ? undefined : "Search";
    const ended = { taskId, outcome, what, durationMs: completedAt - run.createdAt, reason: error?.message } as const;
    await announce(transaction, {
      taskId,
      owner,
      title,
      earlierIds: async () => [],
      kind: isChanged ? "changed" : outcome,
      notification: isChanged ? changesNotification(taskId, changes) : notificationFor(ended),
      onDesktop: owner === LOCAL_OWNER,
      now,
    });
  });
}

interface Announcement extends Pick<UntoldRun, "scheduleId"> {
  run: Run;
  /** Undefined if there is no report before it. */
  changes: string | undefined;
  now: number;
}

/** Part of the transaction that notes why an occurrence did not start. */
export const announceUnstarted = (
  transaction: Transaction<Tables>,
  { schedule, problem, why, now }: Unstarted,
): Promise<void> =>
  announce(transaction, {
    taskId: undefined,
    unstarted: { scheduleId: schedule.scheduleId, dueAt: schedule.nextAt ?? 0 },
    owner: schedule.owner,
    title: schedule.input.query,
    earlierIds: async () => [],
    kind: problem === "budget" || problem === "limit" ? "no_budget" : "not_started",
    notification: unstartedNotification(schedule.scheduleId, why),
    onDesktop: schedule.owner === LOCAL_OWNER,
    message: why,
    now,
  });

interface Unstarted {
  schedule: Schedule;
  problem: ScheduleProblem;
  /** In our own words. */
  why: string;
  now: number;
}
