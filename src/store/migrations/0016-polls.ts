/** Polls as jobs: adds the key a run is polled with, and drops the assignment of runs to processes. */

import { type Kysely, sql } from "kysely";
import { isShared } from "../dialect.ts";
import { pollKeyOf } from "../poll-key.ts";

const FORMER_INDICES = [
  "research_tasks_by_next_poll_at",
  "research_tasks_by_lease_owner",
  "research_tasks_by_owner_next_poll_at",
  "research_tasks_by_handed_to_next_poll_at",
  "research_tasks_by_handed_to_owner_next_poll_at",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("research_tasks").addColumn("poll_key", "text").execute();
  await db.schema.alterTable("processes").addColumn("poll_key", "text").execute();
  await fillPollKeys(db);
  // On SQLite the table of runs is the queue, and processes of an earlier version may still use it.
  if (!isShared(db)) return;
  for (const index of FORMER_INDICES) await db.schema.dropIndex(index).execute();
  await db.schema.alterTable("research_tasks").dropColumn("handed_to").execute();
  await db.schema.alterTable("processes").dropColumn("follows_at").execute();
  // Contains no column that a poll writes. Polls no longer take leases, so existing ones are cleared.
  await db.schema
    .createIndex("research_tasks_by_poll_key_owner")
    .on("research_tasks")
    .columns(["poll_key", "owner"])
    .where(sql.ref("next_poll_at"), "is not", null)
    .execute();
  await sql`update research_tasks set lease_until = null where next_poll_at is not null`.execute(db);
}

/** Includes finished runs, which may be reopened. */
async function fillPollKeys(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ key_fingerprint: string | null; base_url: string | null }>`
    select distinct attempt.key_fingerprint, attempt.base_url
    from research_attempts as attempt join research_tasks as run on run.interaction_id = attempt.interaction_id`.execute(
    db,
  );
  for (const { key_fingerprint, base_url } of rows) {
    const key = pollKeyOf({ key: key_fingerprint ?? undefined, baseUrl: base_url ?? "" });
    await sql`
      update research_tasks set poll_key = ${key}
      where interaction_id in (
        select interaction_id from research_attempts
        where coalesce(key_fingerprint, '') = ${key_fingerprint ?? ""} and coalesce(base_url, '') = ${base_url ?? ""}
      )`.execute(db);
  }
}
