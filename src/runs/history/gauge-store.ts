/** SQL for the telemetry gauges: runs by state and kind, and how late the polls are. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import type { RunGauges } from "../../telemetry/recorder.ts";
import { readFleetStatus } from "../scheduling/fleet-status-store.ts";

/** Counting may use at most 0.5 % of the event loop. */
const MAX_SHARE = 1 / 200;
/** Rows per query: about two milliseconds, after which the event loop is released. */
const PORTION_ROWS = 500;
/** When counting takes longer, the previous count is returned at once. */
const MAX_WAIT_MS = 50;

/** Caches the counts in proportion to the time they took: counting a million runs takes seconds. */
export function createRunGauges(
  db: Database,
  now: () => number,
  { timer = () => performance.now(), portion = PORTION_ROWS } = {},
): () => Promise<RunGauges> {
  let counted: RunGauges["runs"] = [];
  let counting: Promise<void> | undefined;
  let tookMs = 0;
  let countAgainAt = -Infinity;
  let pollGauges: PollGauges | undefined;
  let readAgainAt = -Infinity;
  const count = async (): Promise<void> => {
    const began = timer();
    // After an error the previous count stays until the next one is due.
    counted = await countRuns(db, portion).catch(() => counted);
    const ended = timer();
    tookMs = ended - began;
    countAgainAt = ended + tookMs / MAX_SHARE;
    counting = undefined;
  };
  return async () => {
    if (timer() >= countAgainAt) counting ??= count();
    if (tookMs < MAX_WAIT_MS) await counting;
    // Cheap on SQLite (one small index), but on PostgreSQL every pg-boss job is read.
    if (!isShared(db)) return { runs: counted, ...(await readPollGauges(db, now())) };
    if (pollGauges === undefined || timer() >= readAgainAt) {
      const began = timer();
      pollGauges = await readPollGauges(db, now());
      readAgainAt = timer() + (timer() - began) / MAX_SHARE;
    }
    return { runs: counted, ...pollGauges };
  };
}

async function countRuns(db: Database, portion: number): Promise<RunGauges["runs"]> {
  const runs = new Map<string, RunGauges["runs"][number]>();
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows = await countPortion(db, after, portion);
    for (const { status, kind, count } of rows) {
      const before = runs.get(`${status} ${kind}`)?.count ?? 0;
      runs.set(`${status} ${kind}`, { status, kind, count: before + Number(count) });
    }
    const seen = rows.reduce((sum, { count }) => sum + Number(count), 0);
    after = seen < portion ? undefined : highest(rows.map(({ last }) => last));
    if (after !== undefined) await yieldToEventLoop();
  }
  return [...runs.values()];
}

const countPortion = (db: Database, after: string, portion: number) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom("research_tasks")
        .select(["task_id", "status", "kind"])
        .where("task_id", ">", after)
        .orderBy("task_id")
        .limit(portion)
        .as("some"),
    )
    .select(["status", "kind", sql<number | string>`count(*)`.as("count"), sql<string>`max(task_id)`.as("last")])
    .groupBy(["status", "kind"])
    .execute();

const highest = (ids: string[]): string | undefined => ids.toSorted().at(-1);

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

type PollGauges = Omit<RunGauges, "runs">;

async function readPollGauges(db: Database, now: number): Promise<PollGauges> {
  const { workers, runs } = await readFleetStatus(db, now);
  const responding = workers.filter(({ responds }) => responds).length;
  return {
    due: runs.due,
    late: runs.late,
    oldestDueAgeMs: runs.oldestDueMs,
    workers: { responding, silent: workers.length - responding },
  };
}
