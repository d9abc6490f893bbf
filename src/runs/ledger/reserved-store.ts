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
  /** Undefined if Google has not answered its start, and of a search. */
  interactionId: string | undefined;
  /** The run that has this interaction now. */
  taskId: string | undefined;
  /** Of the API key. */
  keyFingerprint: string | undefined;
  /** Undefined once the run is deleted. */
  baseUrl: string | undefined;
}

/** Oldest first: of these runs, or else all of runs that are neither in progress nor polled. */
export async function findReserved(db: Database, taskIds?: string[]): Promise<ReservedRequest[]> {
  const rows = await db
    .selectFrom("ledger")
    .leftJoin("research_attempts as attempt", "attempt.attempt_id", "ledger.entry_id")
    .leftJoin("research_tasks as run", "run.task_id", "ledger.task_id")
    .select(["ledger.entry_id", "ledger.kind", "ledger.model", "ledger.created_at", "ledger.micros"])
    .select(["ledger.key_fingerprint", "attempt.base_url", "run.task_id"])
    .select((row) => [
      row.fn.coalesce("attempt.interaction_id", "ledger.interaction_id").as("interaction_id"),
      row("run.interaction_id", "=", row.ref("attempt.interaction_id")).as("is_current"),
    ])
    .where("ledger.state", "=", "reserved")
    .$if(taskIds !== undefined, (query) => query.where("ledger.task_id", "in", taskIds ?? []))
    .$if(taskIds === undefined, (query) =>
      query
        .where("run.next_poll_at", "is", null)
        .where((row) => row.or([row("run.status", "is", null), row("run.status", "not in", IN_PROGRESS)])),
    )
    .orderBy("ledger.created_at")
    .execute();
  return rows.map((row) => ({
    entryId: row.entry_id,
    kind: row.kind,
    model: row.model ?? undefined,
    createdAt: row.created_at,
    usd: row.micros / MICROS,
    interactionId: row.interaction_id ?? undefined,
    taskId: row.is_current ? (row.task_id ?? undefined) : undefined,
    keyFingerprint: row.key_fingerprint ?? undefined,
    baseUrl: row.base_url ?? undefined,
  }));
}

const IN_PROGRESS = UNFINISHED.filter((status) => status !== "start_unknown");
