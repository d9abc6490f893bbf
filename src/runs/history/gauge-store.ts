/** The SQL of what is measured about all runs: how many there are of what, and how far the looks are behind. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import type { RunGauges } from "../../telemetry/recorder.ts";
import { readFleetStatus } from "../scheduling/fleet-status-store.ts";

/** Of a thread that also answers, counting may take this part. */
const SHARE = 1 / 200;
/** Rows at a time: about two milliseconds, after which others have their turn. */
const PORTION = 500;
/** A count that takes longer is not waited for: the one before is told meanwhile. */
const QUICK_MS = 50;

/** Counting a million runs takes seconds: the longer it took, the longer its figures are used. */
export function createRunGauges(
  db: Database,
  now: () => number,
  { timer = () => performance.now(), portion = PORTION } = {},
): () => Promise<RunGauges> {
  let counted: RunGauges["runs"] = [];
  let counting: Promise<void> | undefined;
  let tookMs = 0;
  let countAgainAt = -Infinity;
  let waiting: Waiting | undefined;
  let readAgainAt = -Infinity;
  const count = async (): Promise<void> => {
    const began = timer();
    // A database that refuses is asked again when it is next due.
    counted = await countRuns(db, portion).catch(() => counted);
    const ended = timer();
    tookMs = ended - began;
    countAgainAt = ended + tookMs / SHARE;
    counting = undefined;
  };
  return async () => {
    if (timer() >= countAgainAt) counting ??= count();
    if (tookMs < QUICK_MS) await counting;
    // In a file that is one small index; the jobs of an engine are read one by one.
    if (!isShared(db)) return { runs: counted, ...(await readWaiting(db, now())) };
    if (waiting === undefined || timer() >= readAgainAt) {
      const began = timer();
      waiting = await readWaiting(db, now());
      readAgainAt = timer() + (timer() - began) / SHARE;
    }
    return { runs: counted, ...waiting };
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
    after = seen < portion ? undefined : latest(rows.map(({ last }) => last));
    if (after !== undefined) await othersTurn();
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

const latest = (ids: string[]): string | undefined => ids.toSorted().at(-1);

const othersTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

type Waiting = Omit<RunGauges, "runs">;

async function readWaiting(db: Database, now: number): Promise<Waiting> {
  const { workers, runs } = await readFleetStatus(db, now);
  const responding = workers.filter(({ responds }) => responds).length;
  return {
    due: runs.due,
    late: runs.late,
    oldestDueAgeMs: runs.oldestDueMs,
    workers: { responding, silent: workers.length - responding },
  };
}
