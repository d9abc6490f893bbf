/** SQL of the requests that stay reserved: their usage was not reported, or it is unknown whether they were accepted. */

import type { Database } from "../../store/database.ts";
import { UNFINISHED } from "../run.ts";
import { type LedgerKind, MICROS } from "./ledger-store.ts";

export interface ReservedRequest {
  entryId: string;
  kind: LedgerKind;
  model: string | undefined;
  createdAt: number;
  usd: number;
  /** Undefined if Google has not answered its start, once Google has deleted it, and of a search. */
  interactionId: string | undefined;
  /** The run that has this interaction now. */
  taskId: string | undefined;
  isDeleted: boolean;
  /** Of the API key. */
  keyFingerprint: string | undefined;
  baseUrl: string | undefined;
}

/** Of these runs, oldest first. */
export async function reservedOf(db: Database, taskIds: string[]): Promise<ReservedRequest[]> {
  return (await reservedIn(db).where("ledger.task_id", "in", taskIds).execute()).map(requestOf);
}

/** Of all runs that are neither in progress nor polled, oldest first. `now` is that of the database. */
export async function reservedUnpolled(db: Database, now: number): Promise<ReservedRequest[]> {
  const rows = await reservedIn(db)
    .where("run.next_poll_at", "is", null)
    .where((row) => row.or([row("run.status", "is", null), row("run.status", "not in", IN_PROGRESS)]))
    // A request of this process or another may be in progress although no run of this status shows it.
    .where((row) =>
      row.or([
        row("ledger.kind", "not in", IN_PROCESS),
        row.and([row("run.status", "is not", null), row("ledger.kind", "<>", "judge")]),
        row("ledger.created_at", "<", now - MAX_REQUEST_MS),
      ]),
    )
    .execute();
  return rows.map(requestOf);
}

const IN_PROGRESS = UNFINISHED.filter((status) => status !== "start_unknown");

/** Requests whose answer only the process waits for that has sent them. */
export const IN_PROCESS: readonly LedgerKind[] = ["search", "round", "correction", "judge"];

/** The longest GEMINI_SEARCH_TIMEOUT. */
const MAX_REQUEST_MS = 3_600_000;

const reservedIn = (db: Database) =>
  db
    .selectFrom("ledger")
    .leftJoin("research_attempts as attempt", "attempt.attempt_id", "ledger.entry_id")
    .leftJoin("research_tasks as run", "run.task_id", "ledger.task_id")
    .select(["ledger.entry_id", "ledger.kind", "ledger.model", "ledger.created_at", "ledger.micros"])
    .select(["ledger.key_fingerprint", "run.task_id"])
    .select((row) => [
      row.fn.coalesce("attempt.base_url", "ledger.base_url").as("base_url"),
      row.fn.coalesce("attempt.interaction_id", "ledger.interaction_id").as("interaction_id"),
      row("run.interaction_id", "=", row.ref("attempt.interaction_id")).as("is_current"),
    ])
    .where("ledger.state", "=", "reserved")
    .orderBy("ledger.created_at");

type Row = Awaited<ReturnType<ReturnType<typeof reservedIn>["execute"]>>[number];

const requestOf = (row: Row): ReservedRequest => ({
  entryId: row.entry_id,
  kind: row.kind,
  model: row.model ?? undefined,
  createdAt: row.created_at,
  usd: row.micros / MICROS,
  interactionId: row.interaction_id ?? undefined,
  taskId: row.is_current ? (row.task_id ?? undefined) : undefined,
  isDeleted: row.task_id === null,
  keyFingerprint: row.key_fingerprint ?? undefined,
  baseUrl: row.base_url ?? undefined,
});
