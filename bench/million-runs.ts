/** Generates a database with a million stored runs, as after years of use, within seconds. */

import { DatabaseSync } from "node:sqlite";
import { DEFAULT_AGENT } from "../src/gemini/research-agent.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { QUERY, quietLog } from "./questions.ts";

/** One in ten is a run of the agent, of which some failed and a hundred are in progress. */
const UNDER_WAY = 100;
const KIND = "case when i % 10 = 0 then 'agent' when i % 10 < 4 then 'deep_search' else 'search' end";
const STATUS = `case when i < ${UNDER_WAY} * 10 and i % 10 = 0 then 'running_async'
  when i % 50 = 7 then 'failed' when i % 100 = 9 then 'cancelled' else 'completed' end`;
const ID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;

const OPTIONS = JSON.stringify({ max_wait_ms: 14_400_000 });
const ESTIMATE = JSON.stringify({
  minutes: { low: 5, likely: 10, high: 20 },
  cost_usd: { low: 1, likely: 2.5, high: 5 },
  basis: "Google's published figures",
});
const THOUGHT = JSON.stringify({
  text: `**Comparing field studies**\n\n${"What was measured, where and when. ".repeat(12)}`,
});

/** One per minute, newest first: back to almost two years ago. */
const TASKS = `
  with recursive numbers(i) as (select 0 union all select i + 1 from numbers where i + 1 < :runs),
  runs as (select i, ${ID} as id, ${KIND} as kind, ${STATUS} as status, :now - i * 60000 as at from numbers)
  insert into research_tasks (task_id, kind, query, status, progress, mode, backend, model, options_json, join_key,
    estimate_json, client, enable_notifications, created_at, started_at, updated_at, completed_at, deadline_at,
    interaction_id, lease_owner, next_poll_at, last_event_at, tokens_input, tokens_output,
    usage_final, error_code, error_message)
  select id, kind, :query || ' (' || i || ')', status, case status when 'completed' then 100 else 40 end,
    case kind when 'agent' then 'async' else 'sync' end, 'api', :agent, :options,
    case kind when 'agent' then lower(hex(randomblob(32))) end, case kind when 'agent' then :estimate end,
    'bench', 1, at, at, at + 600000, case status when 'running_async' then null else at + 600000 end, at + 14400000,
    case kind when 'agent' then 'v1_' || hex(randomblob(30)) end, 'bench',
    case status when 'running_async' then :now + 3600000 end, at + 500000, 250000, 60000, 1,
    case status when 'failed' then 'RESEARCH_FAILED' end, case status when 'failed' then 'The research failed.' end
  from runs`;

const LEDGER = `
  insert into ledger (entry_id, task_id, owner, model, kind, state, day, created_at, settled_at, reserved_micros,
    cost_micros, micros)
  select task_id, task_id, owner, model, case kind when 'agent' then 'research' else 'search' end, 'settled',
    created_at / 86400000, created_at, updated_at, 3000000, 2750000, 2750000
  from research_tasks`;

const EVENTS = `
  insert into research_events (task_id, seq, at, kind, data_json)
  select task_id, seq.value, created_at, case when seq.value % 2 = 0 then 'thought' else 'search' end, :thought
  from research_tasks, json_each('[1, 2]') as seq where kind = 'agent'`;

/** A paragraph each, but several pages of the database for runs of the agent; without the index of the full text. */
const RESULTS = `
  insert into research_results (task_id, report_markdown, sources_json, citations_json, metadata_json, partial, saved_at)
  select task_id, case kind when 'agent' then :long else :short end, '[]', '[]', '{}', 0, completed_at
  from research_tasks where status = 'completed'`;
const PARAGRAPH = "What was measured, where and when, and by whom. ".repeat(6);

/** Returns the ids of some runs, of all kinds and ages. */
export async function fillWithRuns(file: string, { runs, ids }: { runs: number; ids: number }): Promise<string[]> {
  await (await openSqlite(file, quietLog)).close();
  const database = new DatabaseSync(file);
  try {
    // Durability is not needed here.
    database.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -400000; begin");
    const now = Date.now();
    database
      .prepare(TASKS)
      .run({ runs, now, query: QUERY, agent: DEFAULT_AGENT, options: OPTIONS, estimate: ESTIMATE });
    database.exec(LEDGER);
    database.prepare(EVENTS).run({ thought: THOUGHT });
    database.prepare(RESULTS).run({ short: PARAGRAPH, long: PARAGRAPH.repeat(30) });
    database.exec("commit");
    // Ids are random, so the first ones in order are of every age.
    const rows = database.prepare("select task_id from research_tasks order by task_id limit ?").all(ids);
    return rows.map((row) => String(row["task_id"]));
  } finally {
    database.close();
  }
}
