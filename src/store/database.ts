/** Types of the tables. In both databases times are integer milliseconds, JSON is text, and booleans are 0 and 1. */

import type { Generated, Kysely } from "kysely";
import type { AppError } from "../errors.ts";
import type { RunNotifications } from "./postgres/run-notifications.ts";

type Flag = 0 | 1;

export interface Tables {
  research_tasks: {
    task_id: string;
    owner: string;
    kind: string;
    /** What the run is in its conversation. */
    part: Generated<string>;
    query: string;
    status: string;
    progress: Generated<number>;
    current_action: string | null;
    /** Why polls fail at the moment; shown instead of the action. */
    obstacle: string | null;
    /** What the run was started with: the first digits of its key's SHA-256, or an address. */
    obstacle_setting: string | null;
    /** The report did not pass every gate; the note of its metadata says why. */
    has_warning: Generated<Flag>;
    mode: string | null;
    backend: string | null;
    model: string | null;
    options_json: string;
    join_key: string | null;
    estimate_json: string | null;
    client: string | null;
    parent_task_id: string | null;
    enable_notifications: Flag;
    created_at: number;
    started_at: number | null;
    updated_at: number;
    completed_at: number | null;
    /** Until when a report may arrive: when Google has ended the run without one, the past. Of a plan, when it expires. */
    deadline_at: number | null;
    /** Mirrors the current attempt. */
    interaction_id: string | null;
    lease_owner: string | null;
    lease_until: number | null;
    next_poll_at: number | null;
    /** Of the next poll, where the table of runs is the queue. */
    poll_rank: Generated<number>;
    last_event_at: number | null;
    cancel_requested_at: number | null;
    cancel_confirmed: Flag | null;
    keep_partial: Generated<Flag>;
    tokens_input: Generated<number>;
    tokens_output: Generated<number>;
    /** Of an ended run of the agent, as Google counted them. */
    searches: number | null;
    usage_final: Generated<Flag>;
    error_code: string | null;
    error_message: string | null;
    /** What to do about the error; null where that follows from the state of the run. */
    error_suggestion: string | null;
    /** Identifies the API key that polls need; null until Google has accepted the start. */
    poll_key: string | null;
    /** A response from Google that cannot be acted on at once; null after a normal response. */
    odd_answer: string | null;
    odd_answer_since: number | null;
    /** The starting call returns the report if the run ends by this time; null when no call waits. */
    caller_waits_until: number | null;
    /** When a further call last joined the start. */
    joined_at: number | null;
    /** The name that the user gave the run, on one line; null: the run is shown by its question. */
    title: string | null;
    /** The words that the user gave the run, in lower case, each between two spaces; null: none. */
    tags: string | null;
    /** What the user noted on the run. */
    note: string | null;
    starred: Generated<Flag>;
    /** Archived runs have ended, and are hidden from the list of the page and of the terminal. */
    archived: Generated<Flag>;
    /** Null unless the run is a follow-up on its parent. */
    followup_context: string | null;
    /** The run whose place this one takes: the plan that it changes or carries out, or the unknown start that it repeats. */
    carries_on: string | null;
    /** It led to nothing, so the run that it carries on is open again. */
    gave_way: Generated<Flag>;
    /** The schedule that started it, which may have ended since. */
    schedule_id: string | null;
  };
  research_attempts: {
    attempt_id: string;
    task_id: string;
    interaction_id: string | null;
    state: string;
    created_at: number;
    sent_at: number | null;
    answered_at: number | null;
    key_fingerprint: string | null;
    base_url: string | null;
  };
  /**
   * One row per paid request, written before it is sent. The money columns are millionths of a US dollar. A process that
   * dies, and an end without reported usage, leave a row reserved at the upper bound of its estimate.
   */
  ledger: {
    /** Of a start, its attempt. */
    entry_id: string;
    /** Null once the run is deleted. */
    task_id: string | null;
    owner: string;
    key_fingerprint: string | null;
    model: string | null;
    kind: "search" | "round" | "correction" | "research" | "plan" | "followup" | "table" | "judge";
    /** A person has agreed to this request and its price. */
    confirmed: Generated<Flag>;
    state: Generated<"reserved" | "settled" | "released">;
    /** The day of the request in UTC, in days since 1970. */
    day: number;
    created_at: number;
    settled_at: number | null;
    /** The upper bound of the estimate; 0 without a price. */
    reserved_micros: number;
    /** What the reported usage costs; null until any is reported, and if no part of it has a price. */
    cost_micros: number | null;
    /** What the row counts: its reservation, its cost once settled, nothing once released. */
    micros: number;
    /** Part of the usage has no known price: the cost is a lower bound. */
    incomplete: Generated<Flag>;
    /** Part of the usage was priced by its model's family. */
    estimated: Generated<Flag>;
    /** Budgets of which this start reached a threshold, such as `BUDGET_DAY_USD 80`, as a JSON array; each warns once. */
    warned: string | null;
    /** Of a run that a schedule started: counted against the budget of the schedule, also once the run is deleted. */
    schedule_id: string | null;
    /** Of a deleted run whose usage Google has not reported: by it the row can still be settled. */
    interaction_id: string | null;
  };
  research_results: {
    task_id: string;
    report_markdown: string;
    sources_json: string;
    citations_json: string;
    metadata_json: string;
    /** The upstream JSON, compressed. */
    raw: Uint8Array | null;
    partial: Flag;
    saved_at: number;
    /** When the redirect links of its sources were resolved; null if they were not. */
    links_resolved_at: number | null;
    /** When a process began to check its citations unasked (`VERIFY_CITATIONS=auto`); null if none did. */
    citations_checked_at: number | null;
    /** Its row in `research_search`; null while it is not indexed. */
    search_rowid: number | null;
    /** Google's Search Suggestions: a JSON array of HTML, compressed. */
    suggestions: Uint8Array | null;
    /** Google's grounding supports: a JSON array of segments with the pages of each; null without any. */
    supports_json: string | null;
    /** The claims of the report, split when they are first needed. */
    claims_json: string | null;
    /** SHA-256 of the report that was split, in hex: a report that arrives late replaces an earlier one. */
    report_hash: string | null;
  };
  /**
   * Files that a start sends, kept only while it may have to be repeated, and the pictures of a report. Each kind is
   * numbered from 1, pictures in the order of the text.
   */
  research_files: {
    task_id: string;
    kind: "sent" | "picture";
    n: number;
    /** The type and size of a picture, and its place in the report; null for a sent file. */
    facts_json: string | null;
    content: Uint8Array;
  };
  /** The last check of a cited page, by the number of its source. */
  research_pages: {
    task_id: string;
    source: number;
    outcome: string;
    reason: string | null;
    /** The judge refused claims that cite the page, for a reason that lasts. */
    is_refused: Generated<Flag>;
    url: string;
    final_url: string;
    http_status: number | null;
    text_hash: string | null;
    /** Hashes that recognise copies of one text. */
    shingles_json: string | null;
    published: string | null;
    author: string | null;
    checked_at: number;
  };
  /** What was found out about a claim and one of its sources. */
  research_evidence: {
    task_id: string;
    claim: number;
    source: number;
    kind: string;
    verdict: string;
    reason: string | null;
    passage: string | null;
    page_says: string | null;
    probability: number | null;
    judged: Flag;
    checked_at: number;
  };
  research_events: {
    task_id: string;
    seq: number;
    at: number;
    kind: string;
    data_json: string;
    /** Identifies the event of Google's stream, or the round; null for other events of this program. */
    event_key: string | null;
  };
  /** A question that is asked again and again. */
  schedules: {
    schedule_id: string;
    owner: string;
    /** The operation that starts each run, and its input. */
    operation: "search" | "deep_search" | "start_deep_research";
    input_json: string;
    /** When, as `Rule`. */
    rule_json: string;
    /** What its runs may cost together. */
    budget_micros: number;
    paused: Generated<Flag>;
    /** The next occurrence, which is claimed by changing it; null: there is none. */
    next_at: number | null;
    /** The last occurrence that was claimed or passed over: none up to it comes again, whatever the clock says. */
    last_at: number | null;
    /** Why the last occurrence was passed over, or the one that is due waits. */
    problem: "budget" | "limit" | "unfinished" | "unavailable" | "failed" | null;
    /** When the run was created whose end was announced last. */
    told_until: Generated<number>;
    created_at: number;
    updated_at: number;
  };
  notification_outbox: {
    outbox_id: Generated<number>;
    task_id: string;
    /** `desktop`, or the id of a webhook. */
    channel: string;
    kind: string;
    payload_json: string;
    created_at: number;
    /** Not sent before this time: the waiting call may withdraw it, or a delivery has failed; 0: send at once. */
    not_before: Generated<number>;
    claimed_by: string | null;
    claimed_at: number | null;
    sent_at: number | null;
    /** Deliveries to a webhook that have failed. */
    attempts: Generated<number>;
  };
  /** Addresses that are sent events of an owner's runs: webhooks, and subscriptions of MCP clients. */
  webhooks: {
    webhook_id: string;
    owner: string;
    url: string;
    /** Signs the deliveries, so it is stored as it is; null where the receiver checks no signature. */
    secret: string | null;
    shape: string;
    /** The names of the events, each between two spaces. */
    events: string;
    /** Only events of this run; null: of all runs. */
    task_id: string | null;
    /** The address may be private, and need not be https: the operator has added it at the terminal. */
    is_private: Generated<Flag>;
    created_at: number;
    /** Of a subscription, unless its client renews it. */
    expires_at: number | null;
    /** Why nothing is sent any more; null while it is. */
    disabled: string | null;
  };
  processes: {
    process_id: string;
    host: string;
    pid: number;
    start_mark: string | null;
    started_at: number;
    /** Identifies the API key it polls with; null while it polls no runs. */
    poll_key: string | null;
    /** Last heartbeat. */
    seen_at: number;
    version: string | null;
    /** Recent polls by outcome, as of the last heartbeat. */
    polls_json: string | null;
  };
  /** A place in a pool, the name of a temporary file, or a rate limit, whose permits are taken until this time. */
  leases: {
    lease_id: string;
    pool: string;
    /** Empty for a rate limit. */
    process_id: string;
    lease_until: number;
  };
  access_tokens: {
    /** SHA-256 in hex; the token itself is not stored. */
    token_hash: string;
    name: string;
    created_at: number;
    last_used_at: number | null;
    revoked_at: number | null;
  };
  page_keys: {
    /** SHA-256 in hex; the key itself is only in a link or a cookie. */
    key_hash: string;
    kind: "link" | "session";
    owner: string;
    /** The token that created this key; the key is valid only while the token is. */
    token_hash: string;
    /** Null: the token does not expire. */
    token_expires_at: number | null;
    created_at: number;
    expires_at: number;
    /** Sessions: hash of the secret that only the page's origin holds. Null for links. */
    secret_hash: string | null;
    /** Links: `host:port` of the server that issued it. */
    address: string | null;
  };
  research_search: {
    rowid: Generated<number>;
    task_id: string;
    /** The question; of a run with a title, the title and then the question. */
    query: string;
    report: string;
    /** The user's note, and the sources in words. */
    beside: string;
  };
}

export type Database = Kysely<Tables>;

export interface OpenDatabase {
  db: Database;
  /** Why nothing can be stored at the moment; undefined if it can. */
  obstacle(): Promise<AppError | undefined>;
  /** Undefined on SQLite, where changes are found by polling. */
  notifications?: RunNotifications | undefined;
  close(): Promise<void>;
}

/** Removes NUL characters: drivers before Node 24.16 truncate text at a NUL when reading. */
export const storable = (text: string): string => text.replaceAll("\0", "");
