/**
 * Sample runs for the dashboard, inserted through the product's own stores: months of runs of every kind and status.
 */

import { join } from "node:path";
import type { Selectable } from "kysely";
import { DEFAULT_AGENT } from "../../../src/gemini/research-agent.ts";
import type { AgentPicture } from "../../../src/gemini/research-agent.ts";
import type { CitedRange } from "../../../src/reports/citations.ts";
import { keepPictures } from "../../../src/reports/pictures/keep.ts";
import type { Source } from "../../../src/reports/report.ts";
import { appendEvents, type RunEvent } from "../../../src/runs/event-store.ts";
import type { LedgerKind } from "../../../src/runs/ledger/ledger-store.ts";
import { saveResult } from "../../../src/runs/result-store.ts";
import type { Database, Tables } from "../../../src/store/database.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { insertCost } from "../store/store-rows.ts";
import { LONG_REPORT, SOURCE_LIST, SOURCES } from "./sample-report.ts";
import { silentLog as log } from "../log.ts";

type TaskRow = Selectable<Tables["research_tasks"]>;

export interface SampleRun {
  row: Partial<TaskRow> & Pick<TaskRow, "task_id"> & { cost_usd?: number };
  report?: {
    markdown: string;
    sources: Source[];
    citations?: CitedRange[];
    partial?: boolean;
    metadata?: Record<string, unknown>;
    pictures?: readonly AgentPicture[];
    suggestions?: readonly string[];
  };
  events?: Omit<RunEvent, "mark">[];
  attempt?: "accepted" | "unknown";
}

const HOUR = 3_600_000;

const LEDGER_KINDS: Record<string, LedgerKind> = { search: "search", deep_research: "search", deep_search: "round" };

/** Ids in the product's format; the same on every call. */
export const sampleId = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

export async function insertSampleRuns(configDir: string, runs: readonly SampleRun[]): Promise<void> {
  const { db, close } = await openSqlite(join(configDir, "deep_research.db"), log);
  try {
    for (const run of runs) await insertSampleRun(db, run);
  } finally {
    await close();
  }
}

export async function insertSampleRun(db: Database, { row, report, events = [], attempt }: SampleRun): Promise<void> {
  const { cost_usd: usd, ...columns } = row;
  const { task_id: taskId } = row;
  const at = row.created_at ?? 1;
  const times = { updated_at: row.completed_at ?? at, started_at: at, created_at: at };
  const whole: TaskRow = { ...DEFAULT_ROW, ...times, ...columns };
  await db.insertInto("research_tasks").values(whole).execute();
  if (usd !== undefined) {
    const cost = { usd, incomplete: false, estimated: false };
    await insertCost(db, {
      task_id: taskId,
      owner: whole.owner,
      at,
      kind: LEDGER_KINDS[whole.kind] ?? "research",
      cost,
    });
  }
  if (attempt !== undefined) {
    const times = { created_at: at, sent_at: at + 400, answered_at: at + 1_900 };
    const interaction = attempt === "accepted" ? (row.interaction_id ?? null) : null;
    const noKey = { key_fingerprint: null, base_url: null };
    const sent = { attempt_id: taskId, task_id: taskId, interaction_id: interaction, state: attempt, ...times };
    await db
      .insertInto("research_attempts")
      .values({ ...sent, ...noKey })
      .execute();
  }
  if (events.length > 0) await appendEvents(db, taskId, events);
  if (report === undefined) return;
  const { markdown, sources, citations = [], partial = false, metadata = {}, suggestions: searchSuggestions } = report;
  const { pictures } = keepPictures(report.pictures ?? []);
  const result = { report: markdown, sources, citations, partial, metadata, pictures, searchSuggestions };
  await db
    .transaction()
    .execute((transaction) => saveResult(transaction, { taskId, query: whole.query, result, now: at }));
}

const DEFAULT_ROW: Omit<TaskRow, "task_id" | "created_at" | "started_at" | "updated_at"> = {
  owner: "local",
  kind: "agent",
  query: "How deep is the lake?",
  status: "completed",
  progress: 100,
  current_action: null,
  searches: null,
  obstacle: null,
  obstacle_setting: null,
  has_warning: 0,
  mode: "async",
  backend: "api",
  model: DEFAULT_AGENT,
  options_json: "{}",
  join_key: null,
  estimate_json: null,
  client: "page",
  parent_task_id: null,
  followup_context: null,
  part: "question",
  carries_on: null,
  gave_way: 0,
  schedule_id: null,
  announced: null,
  poll_key: null,
  poll_rank: 0,
  odd_answer: null,
  odd_answer_since: null,
  caller_waits_until: null,
  joined_at: null,
  title: null,
  tags: null,
  note: null,
  starred: 0,
  archived: 0,
  enable_notifications: 0,
  completed_at: null,
  deadline_at: null,
  interaction_id: null,
  lease_owner: null,
  lease_until: null,
  next_poll_at: null,
  last_event_at: null,
  cancel_requested_at: null,
  cancel_confirmed: null,
  keep_partial: 1,
  tokens_input: 0,
  tokens_output: 0,
  usage_final: 1,
  error_code: null,
  error_message: null,
  error_suggestion: null,
};

const TOPICS = [
  "Which European cities have cut car traffic most since 2015, and by what means?",
  "How long do grid batteries last in daily use, and what do they cost per cycle?",
  "What is known about microplastics in drinking water and their health effects?",
  "Compare the licences of the ten most used open-weight language models",
  "Where do insurers still cover wildfire risk in California, and at what premium?",
  "How do four-day weeks change productivity? Trials with control groups only",
  "State of small modular reactors: orders, permits and delays",
  "Which WebAssembly runtimes are production-ready for plugins?",
  "What do randomised trials say about intermittent fasting?",
  "How do Nordic countries recycle textiles, and who pays for it?",
  "SQLite or PostgreSQL for a queue with a million jobs a day?",
  "Rail freight through the Alps after the Gotthard accident",
] as const;

const KINDS = ["agent", "deep_search", "search", "agent", "search", "deep_research"] as const;
const COST = { agent: 2.4, deep_search: 0.06, search: 0.01, deep_research: 0.22 };
const MINUTES = { agent: 9, deep_search: 3, search: 0.4, deep_research: 12 };

/** A reproducible pseudo-random number between 0 and 1. */
const chance = (n: number): number => Math.abs(Math.sin(n * 12.9898) * 43_758.5453) % 1;

const cents = (usd: number): number => Math.round(usd * 100) / 100;

const estimated = (usd: number): string =>
  JSON.stringify({
    usd: { min: cents(usd * 0.72), likely: cents(usd), max: cents(usd * 1.3) },
    minutes: { min: 4, likely: 9, max: 20 },
  });

/** Finished runs a few days apart, from which the figures are computed. */
export const sampleMonths = (count: number, now: number): SampleRun[] =>
  Array.from({ length: count }, (_, index) => {
    const kind = KINDS[index % KINDS.length] ?? "agent";
    const usual = COST[kind];
    const cost = usual * (0.6 + chance(index) * 0.9);
    const created = Math.round(now - (index + 1) * (56 + chance(index + 7) * 20) * HOUR);
    const took = MINUTES[kind] * (0.6 + chance(index + 3)) * 60_000;
    const query = TOPICS[index % TOPICS.length] ?? TOPICS[0];
    const markdown = `# ${query}\n\nWhat was found, in short. ${query} [1]\n\n## Findings\n\nSee [1] and [2].`;
    return {
      row: {
        task_id: sampleId(1_000 + index),
        kind,
        query,
        created_at: created,
        completed_at: Math.round(created + took),
        cost_usd: Math.round(cost * 10_000) / 10_000,
        tokens_input: Math.round(cost * 90_000),
        tokens_output: Math.round(cost * 11_000),
        ...(kind === "agent" && {
          interaction_id: `v1_${index}`,
          estimate_json: estimated(cost * (0.7 + chance(index + 11) * 0.55)),
        }),
      },
      report: { markdown, sources: SOURCES.slice(0, 2) },
    };
  });

const thoughts = (at: number): Omit<RunEvent, "mark">[] =>
  [
    [
      "thought",
      "**Framing the question**\n\nCold climates are those with weeks below −15 °C. I need field data, not ratings.",
    ],
    ["search", "Searching: heat pump field study cold climate seasonal performance"],
    ["search", "Searching: COP at -25 °C laboratory test air source"],
    ["thought", "**Two kinds of figures**\n\nLaboratory and field results differ by a fifth; I keep them apart."],
    ["search", "Searching: defrost cycle energy penalty review"],
    ["thought", "**What is still missing**\n\nThe effect on the grid. I look for operators, not for vendors."],
    ["search", "Searching: electric heating winter peak local transformer"],
    ["thought", "**Writing**\n\nFive sections, two tables, and what is disputed."],
  ].map(([kind = "", text = ""], index) => ({ kind, text, at: at + (index + 1) * 55_000 }));

export const LONG_RUN = sampleId(1);
export const FAILED_RUN = sampleId(2);
export const UNKNOWN_RUN = sampleId(3);
export const PARTIAL_RUN = sampleId(4);
const SEARCHED_RUN = sampleId(5);

/** One run of each final status, all from the last day. */
export function sampleStatuses(now: number): SampleRun[] {
  const agent = (hoursAgo: number, minutes: number) => {
    const created_at = Math.round(now - hoursAgo * HOUR);
    const estimate_json = JSON.stringify({
      usd: { min: 1, likely: 2.5, max: 5 },
      minutes: { min: 5, likely: 10, max: 20 },
    });
    return { created_at, completed_at: created_at + minutes * 60_000, estimate_json };
  };
  const long = agent(3, 9);
  return [
    {
      row: {
        task_id: LONG_RUN,
        query: "How do heat pumps perform in cold climates?",
        ...long,
        interaction_id: "v1_ChdzdG9yeS1sb25n",
        cost_usd: 2.31,
        tokens_input: 214_000,
        tokens_output: 26_400,
      },
      attempt: "accepted",
      report: { markdown: `${LONG_REPORT}\nSources:\n${SOURCE_LIST}`, sources: SOURCES },
      events: thoughts(long.created_at),
    },
    {
      row: {
        task_id: FAILED_RUN,
        query: "Which ports can handle ammonia as a ship fuel by 2028?",
        ...agent(7, 21),
        status: "failed",
        progress: 64,
        interaction_id: "v1_ChdzdG9yeS1mYWls",
        cost_usd: 1.12,
        error_code: "RESEARCH_FAILED",
        error_message: "Google ended the research without a report.",
      },
      attempt: "accepted",
      events: thoughts(now - 7 * HOUR).slice(0, 4),
    },
    {
      row: {
        task_id: UNKNOWN_RUN,
        query: "What did the last three IPCC reports say about the Atlantic overturning circulation?",
        ...agent(0.4, 0),
        completed_at: null,
        status: "start_unknown",
        error_code: "START_UNKNOWN",
        error_message: "The connection was lost. It is not known whether the research was started.",
        progress: 0,
        usage_final: 0,
      },
      attempt: "unknown",
    },
    {
      row: {
        task_id: PARTIAL_RUN,
        query: "Map the supply chain of gallium outside China",
        ...agent(26, 4),
        status: "cancelled",
        progress: 41,
        interaction_id: "v1_ChdzdG9yeS1oYWxm",
        cost_usd: 0.9,
        cancel_requested_at: now - 26 * HOUR + 200_000,
        cancel_confirmed: 1,
      },
      attempt: "accepted",
      report: {
        markdown: LONG_REPORT.slice(0, 420),
        sources: SOURCES.slice(0, 2),
        partial: true,
      },
    },
    {
      row: {
        task_id: SEARCHED_RUN,
        kind: "search",
        mode: "sync",
        model: "gemini-3-flash",
        query: "Latest LTS release of Node.js and its end of life",
        created_at: Math.round(now - 1.2 * HOUR),
        completed_at: Math.round(now - 1.2 * HOUR) + 9_000,
        cost_usd: 0.0042,
        tokens_input: 3_100,
        tokens_output: 540,
      },
      report: { markdown: "Node.js 24 is the current LTS line [1].", sources: SOURCES.slice(0, 1) },
    },
  ];
}

const FOLLOWUP_REPORT =
  "Between 35 and 45 dB at three metres in reduced mode [cite: 1]. Only one study measured it in homes [cite: 2].";

/** As Google returns the position of a mark. */
function rangeOf(n: number): CitedRange {
  const mark = `[cite: ${n}]`;
  const start = FOLLOWUP_REPORT.indexOf(mark);
  return { n, start, end: start + mark.length };
}

/** A follow-up on the long report. */
export const sampleFollowup = (now: number): SampleRun => ({
  row: {
    task_id: sampleId(6),
    kind: "agent",
    query: "How loud are they at night?",
    parent_task_id: LONG_RUN,
    followup_context: "google",
    created_at: now - 2 * HOUR,
    completed_at: now - 2 * HOUR + 90_000,
    cost_usd: 0.06,
  },
  report: { markdown: FOLLOWUP_REPORT, sources: SOURCES.slice(0, 2), citations: [rangeOf(1), rangeOf(2)] },
});
