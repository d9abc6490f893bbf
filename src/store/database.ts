/** The tables as types. Times are integer milliseconds, JSON is text, booleans are 0 and 1, on every database. */

import type { Generated, Kysely } from "kysely";
import type { RunNotifications } from "./postgres/run-notifications.ts";

type Flag = 0 | 1;

export interface Tables {
  research_tasks: {
    task_id: string;
    owner: string;
    kind: string;
    query: string;
    status: string;
    progress: number;
    current_action: string | null;
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
    deadline_at: number | null;
    /** Mirrors the current attempt. */
    interaction_id: string | null;
    lease_owner: string | null;
    lease_epoch: number;
    lease_until: number | null;
    next_poll_at: number | null;
    last_event_at: number | null;
    cancel_requested_at: number | null;
    cancel_confirmed: Flag | null;
    keep_partial: Flag;
    tokens_input: number;
    tokens_output: number;
    cost_usd: number | null;
    /** A part has no price: `cost_usd` is a lower bound. */
    cost_incomplete: Flag | null;
    /** A part was priced by its model's family. */
    cost_estimated: Flag | null;
    usage_final: Flag;
    error_code: string | null;
    error_message: string | null;
    /** Which key it has to be polled with; null until Google has answered its start. */
    poll_key: string | null;
    /** Of Google, which cannot be acted on at once; null while it answers as it should. */
    odd_answer: string | null;
    odd_answer_since: number | null;
    /** The call that started the run returns its report if it ends by then; null where no call waits. */
    caller_waits_until: number | null;
    /** When a call last joined the start, besides the one that began it. */
    joined_at: number | null;
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
  research_results: {
    task_id: string;
    report_markdown: string;
    sources_json: string;
    citations_json: string;
    metadata_json: string;
    /** The upstream's own JSON, compressed. */
    raw: Uint8Array | null;
    partial: Flag;
    saved_at: number;
    /** When Google's redirect links among its sources were resolved; null: not yet, or never. */
    links_resolved_at: number | null;
    /** Its row in `research_search`; null while it is not to be found there. */
    search_rowid: number | null;
    /** Google's Search Suggestions: a JSON array of HTML, compressed. */
    suggestions: Uint8Array | null;
  };
  /** The pictures of a report, counted from 1 in the order of the text. */
  research_pictures: {
    task_id: string;
    n: number;
    /** SHA-256 in hex. */
    content_hash: string;
    mime_type: string;
    width: number;
    height: number;
    byte_length: number;
    /** Bytes of the report in UTF-8 that precede it. */
    offset_byte: number;
    content: Uint8Array;
  };
  research_rounds: {
    task_id: string;
    round_number: number;
    report_markdown: string;
    verified: Flag;
    summary: string;
    sources_json: string;
    queries_json: string;
    metadata_json: string;
    completed_at: number;
  };
  research_events: {
    task_id: string;
    seq: number;
    at: number;
    kind: string;
    data_json: string;
    /** Which event of Google's stream it is; null for what we say ourselves. */
    mark: string | null;
  };
  notification_outbox: {
    outbox_id: Generated<number>;
    task_id: string;
    channel: string;
    kind: string;
    payload_json: string;
    created_at: number;
    /** While the call that waits for the run may still withdraw it; 0: at once. */
    not_before: Generated<number>;
    claimed_by: string | null;
    claimed_at: number | null;
    sent_at: number | null;
  };
  processes: {
    process_id: string;
    host: string;
    pid: number;
    start_mark: string | null;
    started_at: number;
    /** The key that it polls with; null while it polls no runs. */
    poll_key: string | null;
    /** Its last heartbeat; null in rows that an earlier version wrote. */
    seen_at: number | null;
    version: string | null;
    /** Its polls of the last minutes by outcome, as of its last heartbeat. */
    polls_json: string | null;
  };
  slots: {
    slot_id: string;
    pool: string;
    process_id: string;
    taken_at: number;
    lease_until: number;
  };
  held_files: {
    file_name: string;
    process_id: string;
    created_at: number;
  };
  /** When the next turn of a shared rate is. */
  pace: {
    name: string;
    next_at: number;
  };
  access_tokens: {
    /** SHA-256 in hex; the token itself is stored nowhere. */
    token_hash: string;
    name: string;
    created_at: number;
    last_used_at: number | null;
    revoked_at: number | null;
  };
  page_keys: {
    /** SHA-256 in hex; the key itself is in a link or a cookie only. */
    key_hash: string;
    kind: "link" | "session";
    owner: string;
    /** Of the token that opened the door: what it opened is good only while it is. */
    token_hash: string;
    /** Null: until it is revoked. */
    token_expires_at: number | null;
    created_at: number;
    expires_at: number;
    /** Of a session: the hash of the secret that only the page's own origin holds. Null in rows of older versions. */
    secret_hash: string | null;
    /** Of a link: `host:port` of the server it was made for. */
    address: string | null;
  };
  research_search: {
    rowid: Generated<number>;
    task_id: string;
    query: string;
    report: string;
  };
}

export type Database = Kysely<Tables>;

export interface OpenDatabase {
  db: Database;
  /** False when a newer program owns the schema. */
  writable: boolean;
  /** Where the database sends them; undefined where it has to be asked. */
  notifications?: RunNotifications | undefined;
  close(): Promise<void>;
}

/** Drivers before Node 24.16 cut text at a NUL when they read it back. */
export const storable = (text: string): string => text.replaceAll("\0", "");
