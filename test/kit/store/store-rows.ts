/** An empty database, in memory on SQLite, and functions that insert rows, for tests of single SQL statements. */

import type { Selectable } from "kysely";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Database, Tables } from "../../../src/store/database.ts";
import { openStore } from "../../../src/store/store.ts";
import { sharedFor, stopClock } from "./databases.ts";
import { silentLog as log } from "../log.ts";

/** With `stoppedAt`, the database's clock stays at this time until a test changes it. */
export async function openDatabase({ stoppedAt }: { stoppedAt?: number } = {}): Promise<Database> {
  const shared = await sharedFor();
  if (shared !== undefined && stoppedAt !== undefined) await stopClock(shared.url, stoppedAt);
  const store = await openStore({ file: undefined, shared, clock: systemClock, log });
  onTestFinished(() => store.close());
  return store.db;
}

type TaskRow = Selectable<Tables["research_tasks"]>;
type AttemptRow = Selectable<Tables["research_attempts"]>;

/** Inserts an accepted run that has no poll scheduled, with the given changes. */
export async function insertRun(db: Database, run: Partial<TaskRow> & { task_id: string }): Promise<void> {
  await db
    .insertInto("research_tasks")
    .values({
      owner: "local",
      kind: "agent",
      query: "How deep is the lake?",
      status: "running_async",
      progress: 0,
      options_json: "{}",
      enable_notifications: 1,
      created_at: 1,
      updated_at: 1,
      interaction_id: `v1_${run.task_id}`,
      keep_partial: 1,
      tokens_input: 0,
      tokens_output: 0,
      usage_final: 0,
      ...run,
    })
    .execute();
}

/** Inserts an attempt that was sent and has no response yet, with the given changes. */
export async function insertAttempt(
  db: Database,
  attempt: Partial<AttemptRow> & { attempt_id: string; task_id: string },
): Promise<void> {
  await db
    .insertInto("research_attempts")
    .values({ state: "sending", created_at: 1, ...attempt })
    .execute();
}

export const rowOf = (db: Database, taskId: string): Promise<TaskRow> =>
  db.selectFrom("research_tasks").selectAll().where("task_id", "=", taskId).executeTakeFirstOrThrow();

export const attemptRow = (db: Database, attemptId: string): Promise<AttemptRow> =>
  db.selectFrom("research_attempts").selectAll().where("attempt_id", "=", attemptId).executeTakeFirstOrThrow();
