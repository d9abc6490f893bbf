/** A database file with rows in every table, including values that are easily lost in a copy. */

import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { addToSearch, saveRound } from "../../../src/runs/result-store.ts";
import type { Database } from "../../../src/store/database.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { insertAttempt, insertCost, insertRun } from "./store-rows.ts";
import { silentLog as log } from "../log.ts";

/** Opens the file, changes it, and closes it. */
export async function withFile(file: string, work: (db: Database) => Promise<void>): Promise<void> {
  const { db, close } = await openSqlite(file, log);
  try {
    await work(db);
  } finally {
    await close();
  }
}

/** Texts that drivers, encodings or templates are known to corrupt. */
export const AWKWARD = [
  "plain",
  "Ümläut ß é ñ",
  "日本語 漢字",
  "🦆🏴‍☠️ emoji",
  "quotes ' \" ` $1 ? :name",
  "back\\slash \\x00 \\u0000",
  "new\r\nline\ttab",
  "\u202Eright to left",
  "e\u0301 is not \u00E9",
  "",
  '{"json": [1, null]}',
  "long ".repeat(4_000),
];

export const runId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Inserts more rows than one batch into every table that can have many. */
export const fillStore = (file: string, runs = 230): Promise<void> =>
  withFile(file, async (db) => {
    await db.transaction().execute(async (transaction) => {
      for (let number = 0; number < runs; number += 1) await addRun(transaction, number, runs);
      await addRest(transaction);
    });
    for (let number = 0; number < runs; number += 2) await addRound(db, number);
  });

async function addRun(db: Database, number: number, runs: number): Promise<void> {
  const task_id = runId(number);
  const text = AWKWARD[number % AWKWARD.length] ?? "";
  await insertRun(db, {
    task_id,
    query: `Question ${number} ${text.slice(0, 100)}`,
    title: number % 4 === 0 ? `Titled${number} ${text.slice(0, 100)}` : null,
    tags: number % 6 === 0 ? ` tag${number} heating ` : null,
    starred: number % 5 === 0 ? 1 : 0,
    archived: number % 8 === 0 ? 1 : 0,
    owner: number % 3 === 0 ? "local" : "ann",
    status: number % 2 === 0 ? "completed" : "running_async",
    current_action: number % 7 === 0 ? null : text,
    cost_usd: number === 0 ? null : 0.1 + number / 3,
    tokens_input: number === 1 ? Number.MAX_SAFE_INTEGER : number,
    progress: number % 100,
    created_at: 1_800_000_000_000 + number,
    next_poll_at: number % 2 === 0 ? null : 4_000_000_000_000,
    cancel_confirmed: number % 5 === 0 ? 1 : null,
  });
  await insertAttempt(db, { attempt_id: `attempt-${number}`, task_id, sent_at: number % 2 === 0 ? null : number });
  for (const seq of [0, 1, 2]) {
    const event = { task_id, seq, at: number, kind: "thought", data_json: JSON.stringify({ text }) };
    await db.insertInto("research_events").values(event).execute();
  }
  if (number % 2 === 0) await addResult(db, task_id, { text, number });
  if (number === runs - 1) {
    // The first run in key order continues the last one.
    await db.updateTable("research_tasks").set({ parent_task_id: task_id }).where("task_id", "=", runId(0)).execute();
  }
}

async function addResult(db: Database, task_id: string, { text, number }: { text: string; number: number }) {
  const { query } = await db
    .selectFrom("research_tasks")
    .select("query")
    .where("task_id", "=", task_id)
    .executeTakeFirstOrThrow();
  const report = `# Report ${number} findable${number}\n\n${text}`;
  const json = { sources_json: "[]", citations_json: "[]", metadata_json: JSON.stringify({ text }) };
  await db
    .insertInto("research_results")
    .values({
      task_id,
      report_markdown: report,
      ...json,
      raw: number % 4 === 0 ? null : randomBytes(1_000),
      suggestions: number % 4 === 0 ? deflateRawSync(JSON.stringify([text])) : null,
      partial: 0,
      saved_at: number,
      search_rowid: number === 2 ? null : await addToSearch(db, { taskId: task_id, query, report, sources: [] }),
    })
    .execute();
}

async function addRound(db: Database, number: number): Promise<void> {
  const text = AWKWARD[number % AWKWARD.length] ?? "";
  const round = { roundNumber: 1, report: text, verified: true, summary: text, sources: [], queries: [], metadata: {} };
  await saveRound(db, runId(number), { ...round, now: number });
}

async function addRest(db: Database): Promise<void> {
  for (const number of [1, 2, 3]) {
    const message = { channel: "desktop", kind: `kind-${number}`, payload_json: "{}", created_at: number };
    await db
      .insertInto("notification_outbox")
      .values({ outbox_id: number * 7, task_id: runId(number), ...message, sent_at: number === 1 ? null : number })
      .execute();
    const webhook = { owner: "ann", url: `https://hooks.onda-press.com/${AWKWARD[number] ?? ""}`, shape: "mcp" };
    await db
      .insertInto("webhooks")
      .values({ ...webhook, webhook_id: `sub_${number}`, events: " research.failed ", created_at: number })
      .execute();
    const token = { name: "ann", created_at: number, last_used_at: null, revoked_at: number === 3 ? null : number };
    const facts = { mimeType: "image/png", width: 10, height: 10, byteLength: 1_000, hash: `h${number}`, offset: 5 };
    const picture = { kind: "picture" as const, n: 1, facts_json: JSON.stringify(facts), content: randomBytes(1_000) };
    await db
      .insertInto("research_files")
      .values({ task_id: runId(number), ...picture })
      .execute();
    await db
      .insertInto("access_tokens")
      .values({ token_hash: `hash-${number}`, ...token })
      .execute();
  }
  await db
    .insertInto("research_files")
    .values({ task_id: runId(1), kind: "sent", n: 1, content: randomBytes(1_000) })
    .execute();
  await addEvidence(db);
  await db.insertInto("leases").values({ lease_id: "s", pool: "p", process_id: "gone", lease_until: 2 }).execute();
}

async function addEvidence(db: Database): Promise<void> {
  const task_id = runId(1);
  const url = "https://one.example/";
  const claims = { report_hash: "hash", claims_json: "[]" };
  await db.updateTable("research_results").set(claims).where("task_id", "=", task_id).execute();
  await insertCost(db, { task_id, kind: "judge" });
  await db
    .insertInto("research_pages")
    .values({ task_id, source: 1, outcome: "text", url, final_url: url, checked_at: 1 })
    .execute();
  for (const kind of ["page", "read"]) {
    await db
      .insertInto("research_evidence")
      .values({ task_id, claim: 1, source: 1, kind, verdict: "confirmed", judged: 0, checked_at: 1 })
      .execute();
  }
}
