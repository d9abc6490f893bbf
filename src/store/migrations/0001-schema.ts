/** The schema, of both databases. */

import { type Kysely, type RawBuilder, sql } from "kysely";
import { failpoint } from "../../platform/failpoint.ts";
import { isShared } from "../dialect.ts";
import { createFullText } from "../full-text.ts";
import { type Column, TABLES } from "./0001-tables.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = isShared(db);
  for (const [table, columns] of Object.entries(TABLES)) await createTable(table, columns, isPostgres).execute(db);
  failpoint("during-migration");
  for (const statement of INDEXES) await statement.execute(db);
  await createFullText(db);
  for (const statement of isPostgres ? POSTGRES_ONLY : SQLITE_ONLY) await statement.execute(db);
}

type Statement = RawBuilder<unknown>;

const KEYS: { [Table in keyof typeof TABLES]?: string } = {
  research_files: "primary key (task_id, kind, n)",
  research_pages: "primary key (task_id, source)",
  research_evidence: "primary key (task_id, claim, source, kind)",
  research_events: "primary key (task_id, seq)",
  notification_outbox: "unique (task_id, channel, kind)",
};

function createTable(table: string, columns: Record<string, Column<unknown>>, isPostgres: boolean): Statement {
  const definitions = Object.entries(columns).map(([name, { type, postgres, rule, values }]) =>
    [
      name,
      isPostgres ? postgres : type,
      rule,
      values && `check (${name} in (${values.map((value) => `'${value}'`).join(", ")}))`,
    ]
      .filter(Boolean)
      .join(" "),
  );
  const lines = [...definitions, ...Object.entries(KEYS).flatMap(([of, key]) => (of === table ? [key] : []))];
  return sql.raw(`create table ${table} ( ${lines.join(", ")} )`);
}

const byTasks = (columns: string, where = ""): Statement =>
  sql.raw(`create index research_tasks_by_${columns.replaceAll(", ", "_")} on research_tasks (${columns}) ${where}`);

const INDEXES = [
  byTasks("owner, created_at, task_id"),
  // A list filtered by status or kind must not read all other runs.
  byTasks("owner, status, created_at, task_id"),
  byTasks("owner, kind, created_at, task_id"),
  // One of a million runs may be archived or all but one: neither list must read the other's runs, whatever it is
  // filtered by. Without `archived` in front, SQLite, which has no statistics, would use the indexes above.
  byTasks("owner, archived, created_at, task_id"),
  byTasks("owner, archived, status, created_at, task_id"),
  byTasks("owner, archived, kind, created_at, task_id"),
  byTasks("owner, starred, archived, created_at, task_id", "where starred = 1"),
  byTasks("owner, tags", "where tags is not null"),
  byTasks("status, next_poll_at"),
  byTasks("join_key, created_at"),
  // For the retention sweep, which would otherwise read every run.
  byTasks("completed_at, task_id"),
  byTasks("interaction_id", "where interaction_id is not null"),
  // Without it, each deletion scans all runs to check the foreign key.
  byTasks("parent_task_id", "where parent_task_id is not null"),
  // For lists, and for deletions like the one above.
  byTasks("carries_on", "where carries_on is not null"),
  // The runs of a schedule, the last one first.
  byTasks("schedule_id, created_at", "where schedule_id is not null"),
  // Every sweep looks for those of schedules that have ended and are not announced.
  byTasks("created_at", "where schedule_id is not null and announced is null"),
  // A plan is changed or approved once, and an unknown start is sent again once, however many calls ask for it.
  sql`create unique index research_tasks_carried_on_once on research_tasks (carries_on)
    where carries_on is not null and gave_way = 0`,
  // Plans are few among many runs: every sweep looks for those that have expired, and every list for open ones. Without
  // `status`: SQLite compiles a statement anew each time it binds a value that a condition of an index depends on.
  byTasks("deadline_at", "where part = 'plan'"),
  sql`create index research_attempts_by_task_id on research_attempts (task_id)`,
  // A paid interaction belongs to one attempt.
  sql`create unique index research_attempts_interaction_id_key on research_attempts (interaction_id)
    where interaction_id is not null`,
  // Sums of a day or month are read from the index alone.
  sql`create index ledger_by_day on ledger (day, owner, micros)`,
  sql`create index ledger_warned on ledger (day) where warned is not null`,
  sql`create index ledger_by_task_id on ledger (task_id)`,
  sql`create index ledger_by_schedule_id on ledger (schedule_id) where schedule_id is not null`,
  sql`create index schedules_by_owner on schedules (owner, created_at)`,
  sql`create index schedules_by_next_at on schedules (next_at) where next_at is not null`,
  sql`create index research_results_by_saved_at on research_results (saved_at)`,
  // An event of Google's stream is stored once, even if it is received several times; and a round.
  sql`create unique index research_events_by_event_key on research_events (task_id, event_key)`,
  sql`create index notification_outbox_by_channel on notification_outbox (channel, claimed_at, outbox_id)`,
  sql`create index notification_outbox_unsent on notification_outbox (not_before) where sent_at is null`,
  sql`create index webhooks_by_owner on webhooks (owner)`,
  sql`create index leases_by_pool on leases (pool)`,
  // One live token per name, even if two commands add it at the same time.
  sql`create unique index access_tokens_by_live_name on access_tokens (name) where revoked_at is null`,
];

/** Here the table of runs is the queue. Partial indexes stay small however many runs are stored. */
const SQLITE_ONLY = [
  byTasks("next_poll_at", "where next_poll_at is not null"),
  byTasks("owner, next_poll_at", "where next_poll_at is not null"),
  byTasks("lease_owner", "where lease_until is not null"),
  // Changes are found by `updated_at`.
  byTasks("owner, updated_at"),
];

/** The columns that the page shows. Leases, poll times and `updated_at` change far more often and are not shown. */
const SHOWN = [
  "status",
  "progress",
  "current_action",
  "obstacle",
  "last_event_at",
  "interaction_id",
  "cancel_requested_at",
  "cancel_confirmed",
  "tokens_input",
  "tokens_output",
  "usage_final",
  "error_code",
  "title",
  "tags",
  "note",
  "starred",
  "archived",
];

const listed = (of: "old" | "new"): Statement => sql.raw(SHOWN.map((column) => `${of}.${column}`).join(", "));

const POSTGRES_ONLY = [
  // Contains no column that a poll writes.
  byTasks("poll_key, owner", "where next_poll_at is not null"),
  // With free space on the page, an update of a run's progress touches no index (HOT), which halves the WAL of the write.
  sql`alter table research_tasks set (fillfactor = 80)`,
  // Notifications by triggers, so that every write is covered. Several changes of a run in one transaction cause one
  // notification. The payload contains the run and a truncated hash of the owner.
  sql`create function notify_run_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('gemini_search_runs',
        left(encode(sha256(convert_to(new.owner, 'UTF8')), 'hex'), 16) || ' ' || new.task_id);
      return null;
    end $$`,
  sql`create trigger research_tasks_inserted after insert on research_tasks
    for each row execute function notify_run_changed()`,
  sql`create trigger research_tasks_changed after update of ${sql.raw(SHOWN.join(", "))} on research_tasks
    for each row when ((${listed("old")}) is distinct from (${listed("new")}))
    execute function notify_run_changed()`,
];
