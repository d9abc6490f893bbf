/** The schema, of both databases. `database.ts` explains the columns. */

import { type Kysely, type RawBuilder, sql } from "kysely";
import { failpoint } from "../../platform/failpoint.ts";
import { isShared } from "../dialect.ts";
import { createFullText } from "../full-text.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [...tablesOfRuns(isShared(db)), "failpoint" as const, ...otherTables(isShared(db)), ...INDEXES];
  for (const statement of statements) {
    if (statement === "failpoint") failpoint("during-migration");
    else await statement.execute(db);
  }
  await createFullText(db);
  for (const statement of isShared(db) ? POSTGRES_ONLY : SQLITE_ONLY) await statement.execute(db);
}

type Statement = RawBuilder<unknown>;

/*
 * Constraints cover only values that this program invents. Figures from Google, and what is computed from them, have
 * none: they are stored in the transaction that stores a paid report, which must not fail because of a figure.
 */
const tablesOfRuns = (isPostgres: boolean): Statement[] => {
  const bytes = sql.raw(isPostgres ? "bytea" : "blob");
  return [
    sql`create table research_tasks (
      task_id text primary key,
      owner text not null default 'local',
      kind text not null check (kind in ('search', 'deep_search', 'deep_research', 'agent')),
      part text not null default 'question' check (part in ('question', 'plan', 'research', 'followup', 'table')),
      query text not null,
      title text,
      tags text,
      note text,
      starred integer not null default 0,
      archived integer not null default 0,
      status text not null default 'pending' check (status in ('pending', 'running', 'running_async', 'start_unknown',
        'completed', 'failed', 'cancelled')),
      progress integer not null default 0,
      current_action text,
      obstacle text check (obstacle in ('unreachable', 'failing', 'unreadable', 'billing', 'location', 'credentials',
        'missing', 'forbidden', 'rejected', 'too_long', 'other_key', 'other_address')),
      obstacle_setting text,
      has_warning integer not null default 0,
      mode text check (mode in ('sync', 'async')),
      backend text,
      model text,
      options_json text not null default '{}',
      join_key text,
      joined_at bigint,
      estimate_json text,
      client text,
      parent_task_id text references research_tasks (task_id) deferrable,
      followup_context text check (followup_context in ('google', 'stored_report')),
      carries_on text references research_tasks (task_id) deferrable,
      gave_way integer not null default 0,
      schedule_id text,
      enable_notifications integer not null default 1,
      caller_waits_until bigint,
      created_at bigint not null,
      started_at bigint,
      updated_at bigint not null,
      completed_at bigint,
      deadline_at bigint,
      interaction_id text,
      lease_owner text,
      lease_until bigint,
      poll_key text,
      next_poll_at bigint,
      poll_rank integer not null default 0,
      last_event_at bigint,
      odd_answer text,
      odd_answer_since bigint,
      cancel_requested_at bigint,
      cancel_confirmed integer,
      keep_partial integer not null default 1,
      tokens_input bigint not null default 0,
      tokens_output bigint not null default 0,
      searches bigint,
      usage_final integer not null default 0,
      error_code text,
      error_message text,
      error_suggestion text
    )`,
    sql`create table research_attempts (
      attempt_id text primary key,
      task_id text not null references research_tasks (task_id),
      interaction_id text,
      state text not null check (state in ('sending', 'accepted', 'unknown', 'refused')),
      created_at bigint not null,
      sent_at bigint,
      answered_at bigint,
      key_fingerprint text,
      base_url text
    )`,
    // The row outlives its run: deleting a run does not lower what was spent.
    sql`create table ledger (
      entry_id text primary key,
      task_id text references research_tasks (task_id) on delete set null,
      owner text not null,
      key_fingerprint text,
      model text,
      kind text not null check (kind in ('search', 'round', 'correction', 'research', 'plan', 'followup', 'table', 'judge')),
      confirmed integer not null default 0,
      state text not null default 'reserved' check (state in ('reserved', 'settled', 'released')),
      day integer not null,
      created_at bigint not null,
      settled_at bigint,
      reserved_micros bigint not null,
      cost_micros bigint,
      micros bigint not null,
      incomplete integer not null default 0,
      estimated integer not null default 0,
      warned text,
      schedule_id text,
      interaction_id text
    )`,
    sql`create table research_results (
      task_id text primary key references research_tasks (task_id),
      report_markdown text not null,
      sources_json text not null,
      citations_json text not null,
      metadata_json text not null,
      supports_json text,
      suggestions ${bytes},
      raw ${bytes},
      partial integer not null,
      saved_at bigint not null,
      links_resolved_at bigint,
      citations_checked_at bigint,
      search_rowid integer,
      report_hash text,
      claims_json text
    )`,
    sql`create table research_files (
      task_id text not null references research_tasks (task_id) on delete cascade,
      kind text not null check (kind in ('sent', 'picture')),
      n integer not null,
      facts_json text,
      content ${bytes} not null,
      primary key (task_id, kind, n)
    )`,
    sql`create table research_pages (
      task_id text not null references research_tasks (task_id) on delete cascade,
      source integer not null,
      outcome text not null,
      reason text,
      is_refused integer not null default 0,
      url text not null,
      final_url text not null,
      http_status integer,
      text_hash text,
      shingles_json text,
      published text,
      author text,
      checked_at bigint not null,
      primary key (task_id, source)
    )`,
    sql`create table research_evidence (
      task_id text not null references research_tasks (task_id) on delete cascade,
      claim integer not null,
      source integer not null,
      kind text not null,
      verdict text not null,
      reason text,
      passage text,
      page_says text,
      probability double precision,
      judged integer not null,
      checked_at bigint not null,
      primary key (task_id, claim, source, kind)
    )`,
    sql`create table research_events (
      task_id text not null references research_tasks (task_id),
      seq integer not null,
      at bigint not null,
      kind text not null,
      data_json text not null,
      event_key text,
      primary key (task_id, seq)
    )`,
  ];
};

const otherTables = (isPostgres: boolean): Statement[] => [
  sql`create table notification_outbox (
    outbox_id ${sql.raw(isPostgres ? "bigserial primary key" : "integer primary key autoincrement")},
    task_id text not null references research_tasks (task_id),
    channel text not null,
    kind text not null,
    payload_json text not null,
    created_at bigint not null,
    not_before bigint not null default 0,
    claimed_by text,
    claimed_at bigint,
    sent_at bigint,
    attempts integer not null default 0,
    unique (task_id, channel, kind)
  )`,
  sql`create table schedules (
    schedule_id text primary key,
    owner text not null,
    operation text not null check (operation in ('search', 'deep_search', 'start_deep_research')),
    input_json text not null,
    rule_json text not null,
    budget_micros bigint not null,
    paused integer not null default 0,
    next_at bigint,
    last_at bigint,
    problem text check (problem in ('budget', 'limit', 'unfinished', 'unavailable', 'failed')),
    told_until bigint not null default 0,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  sql`create table webhooks (
    webhook_id text primary key,
    owner text not null,
    url text not null,
    secret text,
    shape text not null check (shape in ('standard', 'slack', 'teams', 'ntfy', 'mcp')),
    events text not null,
    task_id text,
    is_private integer not null default 0,
    created_at bigint not null,
    expires_at bigint,
    disabled text
  )`,
  sql`create table processes (
    process_id text primary key,
    host text not null,
    pid integer not null,
    start_mark text,
    started_at bigint not null,
    seen_at bigint not null,
    poll_key text,
    version text,
    polls_json text
  )`,
  sql`create table leases (
    lease_id text primary key,
    pool text not null,
    process_id text not null,
    lease_until bigint not null
  )`,
  sql`create table access_tokens (
    token_hash text primary key,
    name text not null,
    created_at bigint not null,
    last_used_at bigint,
    revoked_at bigint
  )`,
  sql`create table page_keys (
    key_hash text primary key,
    kind text not null check (kind in ('link', 'session')),
    owner text not null,
    token_hash text not null,
    token_expires_at bigint,
    created_at bigint not null,
    expires_at bigint not null,
    secret_hash text,
    address text
  )`,
];

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
  // A plan is changed or approved once, and an unknown start is sent again once, however many calls ask for it.
  sql`create unique index research_tasks_carried_on_once on research_tasks (carries_on)
    where carries_on is not null and gave_way = 0`,
  // Plans are few among many runs: every sweep looks for those that have expired, and every list for open ones.
  byTasks("deadline_at", "where part = 'plan' and status = 'completed'"),
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
