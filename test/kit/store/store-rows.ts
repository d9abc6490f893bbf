/** An empty database, in memory on SQLite, and functions that insert rows, for tests of single SQL statements. */

import { randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Database, Tables } from "../../../src/store/database.ts";
import type { Cost } from "../../../src/costs/actual.ts";
import { type LedgerKind, RUN_COST, saveEntries } from "../../../src/runs/ledger/ledger-store.ts";
import type { Row } from "../../../src/runs/run-row.ts";
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

/** The cost of an inserted run, in US dollars, and its marks. */
interface CostOfRow {
  cost_usd?: number | null;
  cost_incomplete?: 0 | 1;
  cost_estimated?: 0 | 1;
}

/** Inserts an accepted run that has no poll scheduled, with the given changes; with a cost, as a settled request. */
export async function insertRun(
  db: Database,
  { cost_usd, cost_incomplete, cost_estimated, ...run }: Partial<TaskRow> & CostOfRow & { task_id: string },
): Promise<void> {
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
  if (cost_usd === undefined && cost_incomplete === undefined) return;
  const cost = { usd: cost_usd ?? undefined, incomplete: cost_incomplete === 1, estimated: cost_estimated === 1 };
  await insertCost(db, { task_id: run.task_id, owner: run.owner, at: run.created_at, cost });
}

/** Inserts a request of a run: settled with its cost, reserved without. */
export async function insertCost(
  db: Database,
  { entryId = randomUUID(), task_id, owner = "local", at = 1, kind = "research", cost }: PaidRequest,
): Promise<void> {
  const about = {
    owner,
    keyFingerprint: undefined,
    model: "an-agent",
    kind,
    isConfirmed: false,
    maxUsd: cost?.usd,
    at,
  };
  const outcome = cost && { cost, at };
  await saveEntries(db, [{ entryId, taskId: task_id, ...about, outcome }]);
}

interface PaidRequest {
  entryId?: string;
  task_id: string;
  owner?: string | undefined;
  at?: number | undefined;
  kind?: LedgerKind;
  /** Undefined while it is in progress. */
  cost?: Cost | undefined;
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

export const rowOf = (db: Database, taskId: string): Promise<Row> =>
  db
    .selectFrom("research_tasks")
    .selectAll("research_tasks")
    .select(RUN_COST)
    .where("task_id", "=", taskId)
    .executeTakeFirstOrThrow();

export const attemptRow = (db: Database, attemptId: string): Promise<AttemptRow> =>
  db.selectFrom("research_attempts").selectAll().where("attempt_id", "=", attemptId).executeTakeFirstOrThrow();
