/**
 * The tables that 0001 creates, with the types of their rows. In both databases times are integer milliseconds, JSON is
 * text, and booleans are 0 and 1.
 */

import type { Generated } from "kysely";

/** SQL, with the type that its rule gives to TypeScript. */
export interface Column<Type> {
  type: string;
  postgres: string;
  rule: string;
  /** Checked by the database. */
  values: readonly string[] | undefined;
  /** No property of the value. */
  ofType?: Type;
}

type ByRule<Type, Rule extends string> = Rule extends `${string}default${string}`
  ? Generated<Type>
  : Rule extends `not null${string}` | `primary key${string}`
    ? Type
    : Type | null;

const typed =
  <Type>(type: string, postgres = type, values?: readonly string[]) =>
  <Rule extends string = "">(rule?: Rule): Column<ByRule<Type, Rule>> => ({ type, postgres, rule: rule ?? "", values });

const text = typed<string>("text");
const integer = typed<number>("integer");
const flag = typed<0 | 1>("integer");
const bigint = typed<number>("bigint");
const double = typed<number>("double precision");
const bytes = typed<Uint8Array>("blob", "bytea");

const serial: Column<Generated<number>> = {
  type: "integer primary key autoincrement",
  postgres: "bigserial primary key",
  rule: "",
  values: undefined,
};
const oneOf = <const Value extends string>(...values: Value[]) => typed<Value>("text", "text", values);

/** Has a default, but every insert states it. */
const stated = <Type>({ type, postgres, rule, values }: Column<Generated<Type>>): Column<Type> => ({
  type,
  postgres,
  rule,
  values,
});

/*
 * Constraints cover only values that this program invents. Figures from Google, and what is computed from them, have
 * none: they are stored in the transaction that stores a paid report, which must not fail because of a figure.
 */
export const TABLES = {
  research_tasks: {
    task_id: text("primary key"),
    owner: stated(text("not null default 'local'")),
    kind: oneOf<string>("search", "deep_search", "deep_research", "agent")("not null"),
    /** What the run is in its conversation. */
    part: oneOf<string>("question", "plan", "research", "followup", "table")("not null default 'question'"),
    query: text("not null"),
    /** The name that the user gave the run, on one line; null: the run is shown by its question. */
    title: text(),
    /** The words that the user gave the run, in lower case, each between two spaces; null: none. */
    tags: text(),
    /** What the user noted on the run. */
    note: text(),
    starred: flag("not null default 0"),
    /** Archived runs have ended, and are hidden from the list of the page and of the terminal. */
    archived: flag("not null default 0"),
    status: stated(
      oneOf<string>(
        "pending",
        "running",
        "running_async",
        "start_unknown",
        "completed",
        "failed",
        "cancelled",
      )("not null default 'pending'"),
    ),
    progress: integer("not null default 0"),
    current_action: text(),
    /** Why polls fail at the moment; shown instead of the action. */
    obstacle: oneOf(
      "unreachable",
      "failing",
      "unreadable",
      "billing",
      "location",
      "credentials",
      "missing",
      "forbidden",
      "rejected",
      "too_long",
      "other_key",
      "other_address",
    )(),
    /** What the run was started with: the first digits of its key's SHA-256, or an address. */
    obstacle_setting: text(),
    /** The report did not pass every gate; the note of its metadata says why. */
    has_warning: flag("not null default 0"),
    mode: oneOf<string>("sync", "async")(),
    backend: text(),
    model: text(),
    options_json: stated(text("not null default '{}'")),
    join_key: text(),
    /** When a further call last joined the start. */
    joined_at: bigint(),
    estimate_json: text(),
    client: text(),
    parent_task_id: text("references research_tasks (task_id) deferrable"),
    /** Null unless the run is a follow-up on its parent. */
    followup_context: oneOf<string>("google", "stored_report")(),
    /** The run whose place this one takes: the plan that it changes or carries out, or the unknown start that it repeats. */
    carries_on: text("references research_tasks (task_id) deferrable"),
    /** It led to nothing, so the run that it carries on is open again. */
    gave_way: flag("not null default 0"),
    /** The schedule that started it, which may have ended since. */
    schedule_id: text(),
    /** Its number among the runs of the schedule whose end was announced; null until then. */
    announced: integer(),
    enable_notifications: stated(flag("not null default 1")),
    /** The starting call returns the report if the run ends by this time; null when no call waits. */
    caller_waits_until: bigint(),
    created_at: bigint("not null"),
    started_at: bigint(),
    updated_at: bigint("not null"),
    completed_at: bigint(),
    /** Until when a report may arrive: when Google has ended the run without one, the past. Of a plan, when it expires. */
    deadline_at: bigint(),
    /** Mirrors the current attempt. */
    interaction_id: text(),
    lease_owner: text(),
    lease_until: bigint(),
    /** Identifies the API key that polls need; null until Google has accepted the start. */
    poll_key: text(),
    next_poll_at: bigint(),
    /** Of the next poll, where the table of runs is the queue. */
    poll_rank: integer("not null default 0"),
    last_event_at: bigint(),
    /** A response from Google that cannot be acted on at once; null after a normal response. */
    odd_answer: text(),
    odd_answer_since: bigint(),
    cancel_requested_at: bigint(),
    cancel_confirmed: flag(),
    keep_partial: flag("not null default 1"),
    tokens_input: bigint("not null default 0"),
    tokens_output: bigint("not null default 0"),
    /** Of an ended run of the agent, as Google counted them. */
    searches: bigint(),
    usage_final: flag("not null default 0"),
    error_code: text(),
    error_message: text(),
    /** What to do about the error; null where that follows from the state of the run. */
    error_suggestion: text(),
  },
  research_attempts: {
    attempt_id: text("primary key"),
    task_id: text("not null references research_tasks (task_id)"),
    interaction_id: text(),
    state: oneOf<string>("sending", "accepted", "unknown", "refused")("not null"),
    created_at: bigint("not null"),
    sent_at: bigint(),
    answered_at: bigint(),
    key_fingerprint: text(),
    base_url: text(),
  },
  /**
   * One row per paid request, written before it is sent. The money columns are millionths of a US dollar. A process that
   * dies, and an end without reported usage, leave a row reserved at the upper bound of its estimate.
   */
  ledger: {
    /** Of a start, its attempt. */
    entry_id: text("primary key"),
    /** Null once the run is deleted. */
    task_id: text("references research_tasks (task_id) on delete set null"),
    owner: text("not null"),
    key_fingerprint: text(),
    model: text(),
    kind: oneOf("search", "round", "correction", "research", "plan", "followup", "table", "judge")("not null"),
    /** A person has agreed to this request and its price. */
    confirmed: flag("not null default 0"),
    state: oneOf("reserved", "settled", "released")("not null default 'reserved'"),
    /** The day of the request in UTC, in days since 1970. */
    day: integer("not null"),
    created_at: bigint("not null"),
    settled_at: bigint(),
    /** The upper bound of the estimate; 0 without a price. */
    reserved_micros: bigint("not null"),
    /** What the reported usage costs; null until any is reported, and if no part of it has a price. */
    cost_micros: bigint(),
    /** What the row counts: its reservation, its cost once settled, nothing once released. */
    micros: bigint("not null"),
    /** Part of the usage has no known price: the cost is a lower bound. */
    incomplete: flag("not null default 0"),
    /** Part of the usage was priced by its model's family. */
    estimated: flag("not null default 0"),
    /** Budgets of which this start reached a threshold, such as `BUDGET_DAY_USD 80`, as a JSON array; each warns once. */
    warned: text(),
    /** Of a run that a schedule started: counted against the budget of the schedule, also once the run is deleted. */
    schedule_id: text(),
    /** Of a deleted run whose usage Google has not reported: by it the row can still be settled. */
    interaction_id: text(),
    /** Kept with it: the address at which it is known. */
    base_url: text(),
  },
  /** Small columns first: SQLite reads a row only up to the last column that a query asks for. */
  research_results: {
    task_id: text("primary key references research_tasks (task_id)"),
    partial: flag("not null"),
    /** 0: it only stores other data that Google sent. */
    has_text: flag("not null default 1"),
    saved_at: bigint("not null"),
    /** When the redirect links of its sources were resolved; null if they were not. */
    links_resolved_at: bigint(),
    /** When a process began to check its citations unasked (`VERIFY_CITATIONS=auto`); null if none did. */
    citations_checked_at: bigint(),
    /** Its row in `research_search`; null while it is not indexed. */
    search_rowid: integer(),
    /** SHA-256 of the report that was split, in hex: a report that arrives late replaces an earlier one. */
    report_hash: text(),
    sources_json: text("not null"),
    citations_json: text("not null"),
    metadata_json: text("not null"),
    /** Google's grounding supports: a JSON array of segments with the pages of each; null without any. */
    supports_json: text(),
    report_markdown: text("not null"),
    /** The claims of the report, split when they are first needed. */
    claims_json: text(),
    /** Google's Search Suggestions: a JSON array of HTML, compressed. */
    suggestions: bytes(),
    /** The upstream JSON, compressed. */
    raw: bytes(),
  },
  /**
   * Files that a start sends, kept only while it may have to be repeated, and the pictures of a report. Each kind is
   * numbered from 1, pictures in the order of the text.
   */
  research_files: {
    task_id: text("not null references research_tasks (task_id) on delete cascade"),
    kind: oneOf("sent", "picture")("not null"),
    n: integer("not null"),
    /** The type and size of a picture, and its place in the report; null for a sent file. */
    facts_json: text(),
    content: bytes("not null"),
  },
  /** The last check of a cited page, by the number of its source. */
  research_pages: {
    task_id: text("not null references research_tasks (task_id) on delete cascade"),
    source: integer("not null"),
    outcome: text("not null"),
    reason: text(),
    /** The judge refused claims that cite the page, for a reason that lasts. */
    is_refused: flag("not null default 0"),
    url: text("not null"),
    final_url: text("not null"),
    http_status: integer(),
    text_hash: text(),
    /** Hashes that recognise copies of one text. */
    shingles_json: text(),
    published: text(),
    author: text(),
    checked_at: bigint("not null"),
  },
  /** What was found out about a claim and one of its sources. */
  research_evidence: {
    task_id: text("not null references research_tasks (task_id) on delete cascade"),
    claim: integer("not null"),
    source: integer("not null"),
    kind: text("not null"),
    verdict: text("not null"),
    reason: text(),
    passage: text(),
    page_says: text(),
    probability: double(),
    judged: flag("not null"),
    checked_at: bigint("not null"),
  },
  research_events: {
    task_id: text("not null references research_tasks (task_id)"),
    seq: integer("not null"),
    at: bigint("not null"),
    kind: text("not null"),
    data_json: text("not null"),
    /** Identifies the event of Google's stream, or the round; null for other events of this program. */
    event_key: text(),
  },
  notification_outbox: {
    outbox_id: serial,
    /** Null: of a schedule of which no run started. */
    task_id: text("references research_tasks (task_id)"),
    /** `desktop`, or the id of a webhook. */
    channel: text("not null"),
    kind: text("not null"),
    payload_json: text("not null"),
    created_at: bigint("not null"),
    /** Not sent before this time: the waiting call may withdraw it, or a delivery has failed; 0: send at once. */
    not_before: bigint("not null default 0"),
    claimed_by: text(),
    claimed_at: bigint(),
    sent_at: bigint(),
    /** Deliveries to a webhook that have failed. */
    attempts: integer("not null default 0"),
  },
  /** A question that is asked again and again. */
  schedules: {
    schedule_id: text("primary key"),
    owner: text("not null"),
    /** The operation that starts each run, and its input. */
    operation: oneOf("search", "deep_search", "start_deep_research")("not null"),
    input_json: text("not null"),
    /** When, as `Rule`. */
    rule_json: text("not null"),
    /** Of all its runs. */
    budget_micros: bigint("not null"),
    paused: flag("not null default 0"),
    /** The next occurrence, which is claimed by changing it; null: there is none. */
    next_at: bigint(),
    /** The last occurrence that was claimed or passed over: none up to it comes again, whatever the clock says. */
    last_at: bigint(),
    /** Why the last occurrence was passed over, or the one that is due waits. */
    problem: oneOf("budget", "limit", "unfinished", "unavailable", "failed")(),
    created_at: bigint("not null"),
    updated_at: bigint("not null"),
  },
  /** Addresses that are sent events of an owner's runs: webhooks, and subscriptions of MCP clients. */
  webhooks: {
    webhook_id: text("primary key"),
    owner: text("not null"),
    url: text("not null"),
    /** Signs the deliveries, so it is stored as it is; null where the receiver checks no signature. */
    secret: text(),
    shape: oneOf<string>("standard", "slack", "teams", "ntfy", "mcp")("not null"),
    /** The names of the events, each between two spaces. */
    events: text("not null"),
    /** Only events of this run; null: of all runs. */
    task_id: text(),
    /** The address may be private, and need not be https: the operator has added it at the terminal. */
    is_private: flag("not null default 0"),
    created_at: bigint("not null"),
    /** Of a subscription, unless its client renews it. */
    expires_at: bigint(),
    /** Why nothing is sent any more; null while it is. */
    disabled: text(),
  },
  processes: {
    process_id: text("primary key"),
    host: text("not null"),
    pid: integer("not null"),
    start_mark: text(),
    started_at: bigint("not null"),
    /** Last heartbeat. */
    seen_at: bigint("not null"),
    /** Identifies the API key it polls with; null while it polls no runs. */
    poll_key: text(),
    version: text(),
    /** Recent polls by outcome, as of the last heartbeat. */
    polls_json: text(),
  },
  /** A place in a pool, the name of a temporary file, or a rate limit, whose permits are taken until this time. */
  leases: {
    lease_id: text("primary key"),
    pool: text("not null"),
    /** Empty for a rate limit. */
    process_id: text("not null"),
    lease_until: bigint("not null"),
  },
  access_tokens: {
    /** SHA-256 in hex; the token itself is not stored. */
    token_hash: text("primary key"),
    name: text("not null"),
    created_at: bigint("not null"),
    last_used_at: bigint(),
    revoked_at: bigint(),
  },
  page_keys: {
    /** SHA-256 in hex; the key itself is only in a link or a cookie. */
    key_hash: text("primary key"),
    kind: oneOf("link", "session")("not null"),
    owner: text("not null"),
    /** The token that created this key; the key is valid only while the token is. */
    token_hash: text("not null"),
    /** Null: the token does not expire. */
    token_expires_at: bigint(),
    created_at: bigint("not null"),
    expires_at: bigint("not null"),
    /** Sessions: hash of the secret that only the page's origin holds. Null for links. */
    secret_hash: text(),
    /** Links: `host:port` of the server that issued it. */
    address: text(),
  },
};
