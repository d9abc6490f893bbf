/** What the ledger costs: in a status read, and in the transaction of a start, on a database with 200,000 runs. */

import { join } from "node:path";
import { RUN_COST, reserve } from "../src/runs/ledger/ledger-store.ts";
import { readBudgets } from "../src/runs/ledger/budget-store.ts";
import type { Database } from "../src/store/database.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { BIN, isolatedEnvironment } from "../test/kit/server/server.ts";
import { fillWithRuns } from "./million-runs.ts";
import { quietLog } from "./questions.ts";
import type { Table } from "./report.ts";
import { tailOf } from "./statistics.ts";
import { listTools, openStdioClient, timeCall } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

const RUNS = 200_000;
const CALLS = 2_000;
const MAX_SHARE = 0.05;

export const ledger = (): Promise<Table> => withWorkspace(measure);

async function measure(directory: string): Promise<Table> {
  const env = isolatedEnvironment(directory);
  const file = join(directory, "deep_research.db");
  const ids = await fillWithRuns(file, { runs: RUNS, ids: CALLS });
  const read = await readStatuses({ args: [BIN], env }, ids);
  const { db, close } = await openSqlite(file, quietLog);
  try {
    const sums = await timeEach(ids, (taskId) => costOf(db, taskId));
    const reservation = await timeReservations(db, ids);
    const budgets = await timeEach(ids.slice(0, 20), () =>
      readBudgets(db, { BUDGET_DAY_USD: { soft: 20 } }, { owner: "local", now: Date.now() }),
    );
    const share = sums / read;
    const row = (what: string, ms: number): string[] => [what, ms.toFixed(3), `${((100 * ms) / read).toFixed(1)} %`];
    return {
      title: `The ledger, with ${RUNS.toLocaleString("en")} rows`,
      columns: ["", "p50, ms", "of a status read"],
      rows: [
        ["`check_research_status`, over stdio", read.toFixed(3), ""],
        row("the cost of a run in it", sums),
        row("reserving a start, in its transaction", reservation),
        row("the sum of a day's budget", budgets),
      ],
      notes: [
        `${CALLS.toLocaleString("en")} of each, one at a time. A start has no transaction besides that of its intent.`,
      ],
      figures: [{ what: "the ledger's share of a status read", value: share, limit: MAX_SHARE }],
      passed: share <= MAX_SHARE,
    };
  } finally {
    await close();
  }
}

async function readStatuses(program: Parameters<typeof openStdioClient>[0], ids: readonly string[]): Promise<number> {
  const client = openStdioClient(program);
  try {
    await listTools(client, "modern");
    const samples = [];
    for (const taskId of ids) samples.push(await timeCall(client, "check_research_status", { task_id: taskId }));
    return tailOf(samples.slice(samples.length / 10)).p50;
  } finally {
    await client.close();
  }
}

async function timeEach(ids: readonly string[], work: (taskId: string) => Promise<unknown>): Promise<number> {
  const samples = [];
  for (const taskId of ids) {
    const began = performance.now();
    await work(taskId);
    samples.push(performance.now() - began);
  }
  return tailOf(samples.slice(samples.length / 10)).p50;
}

const costOf = (db: Database, taskId: string) =>
  db.selectFrom("research_tasks").select(RUN_COST).where("task_id", "=", taskId).executeTakeFirstOrThrow();

function timeReservations(db: Database, ids: readonly string[]): Promise<number> {
  const start = { owner: "local", keyFingerprint: undefined, model: "m", isConfirmed: false, maxUsd: 3 };
  return db
    .transaction()
    .execute((transaction) =>
      timeEach(ids, (taskId) =>
        reserve(transaction, { ...start, taskId, kind: "research", entryId: `${taskId} again`, at: Date.now() }),
      ),
    );
}
