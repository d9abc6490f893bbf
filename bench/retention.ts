/** How fast expired runs are deleted, and how long other writers wait meanwhile, on SQLite and PostgreSQL. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Clock, systemClock } from "../src/platform/clock.ts";
import { deleteExpiredRuns } from "../src/runs/deletion/retention.ts";
import type { Database } from "../src/store/database.ts";
import { openStore, type StoreOptions } from "../src/store/store.ts";
import { openPostgresReader } from "../test/fleet/postgres-reader.ts";
import { startPostgres } from "../scripts/postgres.ts";
import { quietLog } from "./questions.ts";
import type { Table } from "./report.ts";
import { withWorkspace } from "./workspace.ts";

/** RETENTION_RUNS=1000000 takes some minutes and about 15 GB. */
const RUNS = Number(process.env["RETENTION_RUNS"] ?? 100_000);
const EVENTS_PER_RUN = 30;
/** Share of runs older than the retention period. */
const EXPIRED_SHARE = 0.1;
const DAY_MS = 86_400_000;
const KEPT_DAYS = 730;
/** Target on both databases. */
const MAX_STALL_MS = 500;

interface Measured {
  runsPerSecond: number;
  rowsPerSecond: number;
  longestDeletionMs: number;
  longestStallMs: number;
}

export const retention = (): Promise<Table> =>
  withWorkspace(async (directory) => {
    const sqlite = await measure({ file: join(directory, "deep_research.db") });
    const postgres = await onPostgres();
    const figures = [sqlite, postgres].filter((one) => one !== undefined);
    const row = (name: string, of: (one: Measured) => number, unit = ""): string[] => [
      name,
      ...figures.map((one) => `${Math.round(of(one)).toLocaleString("en")}${unit}`),
    ];
    return {
      title: `Deleting ${RUNS * EXPIRED_SHARE} expired runs of ${RUNS}, ${EVENTS_PER_RUN} events each`,
      columns: ["", "SQLite", ...(postgres === undefined ? [] : ["PostgreSQL"])],
      rows: [
        row("runs deleted per second", (one) => one.runsPerSecond),
        row("rows deleted per second", (one) => one.rowsPerSecond),
        row("longest deletion of a run", (one) => one.longestDeletionMs, " ms"),
        row("longest write of another connection meanwhile", (one) => one.longestStallMs, " ms"),
      ],
      notes: ["The pauses after each run are included in the rates. fsync is on."],
      passed: figures.every(({ longestStallMs }) => longestStallMs <= MAX_STALL_MS),
    };
  });

async function onPostgres(): Promise<Measured | undefined> {
  const server = await startPostgres({ fsync: true });
  if (server === undefined) return undefined;
  try {
    const reader = await openPostgresReader(`${server.url}postgres`);
    await reader.query("create database research");
    await reader.close();
    return await measure({ file: undefined, shared: { url: `${server.url}research`, connections: 4 } });
  } finally {
    await server.stop();
  }
}

async function measure(where: Pick<StoreOptions, "file" | "shared">): Promise<Measured> {
  const [store, other] = [await open(where), await open(where)];
  try {
    await fill(store.db);
    const writer = startWriter(other.db);
    const timed = timedClock();
    const began = performance.now();
    const deleted = await deleteExpiredRuns({
      db: store.db,
      clock: timed.clock,
      log: quietLog,
      removeBackups: async () => {},
      keepDays: KEPT_DAYS,
      leaving: new AbortController().signal,
    });
    const seconds = (performance.now() - began) / 1_000;
    if (deleted !== Math.round(RUNS * EXPIRED_SHARE)) throw new Error(`${deleted} runs were deleted.`);
    return {
      runsPerSecond: deleted / seconds,
      // A run, an attempt, a result, a search entry, and its events.
      rowsPerSecond: (deleted * (4 + EVENTS_PER_RUN)) / seconds,
      longestDeletionMs: Math.max(...timed.durations()),
      longestStallMs: await writer.stop(),
    };
  } finally {
    await other.close();
    await store.close();
  }
}

const open = (where: Pick<StoreOptions, "file" | "shared">) =>
  openStore({ ...where, clock: systemClock, log: quietLog });

const TEXT = "What was measured, where and when, and by whom it was checked. ".repeat(40);

/** In batches, because the store cancels a statement after 30 seconds. */
const BATCH_RUNS = 5_000;

async function fill(db: Database): Promise<void> {
  for (let from = 1; from <= RUNS; from += BATCH_RUNS)
    await fillBatch(db, { from, to: Math.min(RUNS, from + BATCH_RUNS - 1) });
  // Statistics, as in a database that has been in use.
  await sql`analyze`.execute(db);
}

async function fillBatch(db: Database, { from, to }: { from: number; to: number }): Promise<void> {
  const now = Date.now();
  const expired = sql.lit(now - (KEPT_DAYS + 1) * DAY_MS);
  const numbers = (first: number, last: number) =>
    sql`with recursive numbers(i) as (select ${sql.lit(first)} union all select i + 1 from numbers where i < ${sql.lit(last)})`;
  const runs = numbers(from, to);
  const ended = sql`case when i % 10 = 0 then ${expired} else ${sql.lit(now)} end`;
  await sql`${runs}
    insert into research_tasks (task_id, owner, kind, query, status, created_at, updated_at, completed_at, interaction_id)
    select 'run-' || i, 'owner-' || (i % 100), 'agent', 'q' || i, 'completed', ${expired}, ${ended}, ${ended}, 'v1_' || i
    from numbers`.execute(db);
  await sql`${runs}
    insert into research_attempts (attempt_id, task_id, interaction_id, state, created_at)
    select 'a-' || i, 'run-' || i, 'v1_' || i, 'accepted', 1 from numbers`.execute(db);
  // Only for runs that are deleted: the size of the index is not measured.
  await sql`${runs}
    insert into research_search (rowid, task_id, query, report)
    select i, 'run-' || i, 'q' || i, ${TEXT} from numbers where i % 10 = 0`.execute(db);
  await sql`${runs}
    insert into research_results (task_id, report_markdown, sources_json, citations_json, metadata_json, partial,
      saved_at, search_rowid)
    select 'run-' || i, cast(${TEXT} as text), '[]', '[]', '{}', 0, 1, i from numbers where i % 10 = 0`.execute(db);
  for (let n = 1; n <= EVENTS_PER_RUN; n += 1) {
    await sql`${runs}
      insert into research_events (task_id, seq, at, kind, data_json)
      select 'run-' || i, ${sql.lit(n)}, 1, 'thought', ${sql.lit(JSON.stringify({ text: TEXT.slice(0, 200) }))} from numbers`.execute(
      db,
    );
  }
}

/** A concurrent writer; returns the longest time that one write took. */
function startWriter(db: Database): { stop: () => Promise<number> } {
  const stopping = new AbortController();
  let longest = 0;
  const write = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const began = performance.now();
      await sql`insert into leases values (${randomUUID()}, '', '', 1)`.execute(db);
      longest = Math.max(longest, performance.now() - began);
      await sleep(5);
    }
  };
  const writing = write();
  return {
    stop: async () => {
      stopping.abort();
      await writing;
      return longest;
    },
  };
}

/** The sweep reads the monotonic clock before and after each run. */
function timedClock(): { clock: Clock; durations: () => number[] } {
  const read: number[] = [];
  return {
    clock: {
      ...systemClock,
      monotonic: () => {
        const now = performance.now();
        read.push(now);
        return now;
      },
    },
    durations: () => read.flatMap((at, index) => (index % 2 === 1 ? [at - (read[index - 1] ?? at)] : [])),
  };
}
