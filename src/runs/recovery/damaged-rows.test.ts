/** Rows with damaged numbers beside healthy runs, on a real database. */

import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { createTestLog } from "../../../test/kit/log.ts";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { clock, openRunner, request, type Stage } from "../../../test/kit/store/runner.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import type { Database } from "../../store/database.ts";
import type { ResearchDeps } from "../deps.ts";
import { findJudgeCost, readUsage } from "../history/figures-store.ts";
import { findRun, finishedAgentRuns, listRuns } from "../run-store.ts";
import { POLLED_COLUMNS } from "../poll/polled-run.ts";
import { claimDueRuns, resetFarPolls } from "../scheduling/claim-store.ts";
import { readPolledRuns } from "../scheduling/fleet-store.ts";
import { createRunner } from "../scheduling/runner.ts";
import { startResearch } from "../start/start.ts";
import { takeUnreadable } from "../unreadable.ts";
import { sweep } from "./sweep.ts";

/** Beyond what JavaScript can represent, at both ends, and beyond the latest time of a `Date`. */
const TOO_LARGE = "9007199254740993";
const IMPOSSIBLE = [TOO_LARGE, "9223372036854775807", "-9007199254740995", "8640000000000001"];

/** The columns of runs that can store these numbers. */
async function numberColumns(db: Database): Promise<string[]> {
  const { rows } =
    process.env["TEST_DATABASE"] === "postgres"
      ? await sql<{ name: string }>`
          select column_name as name from information_schema.columns
          where table_name = 'research_tasks' and data_type = 'bigint'`.execute(db)
      : await sql<{ name: string }>`
          select name from pragma_table_info('research_tasks') where lower(type) in ('integer', 'bigint')`.execute(db);
  return rows.map(({ name }) => name);
}

const damage = (db: Database, taskId: string, { column, value }: { column: string; value: string }) =>
  sql`update research_tasks set ${sql.ref(column)} = ${sql.raw(value)} where task_id = ${taskId}`.execute(db);

const listed = async (db: Database, limit = 50): Promise<string[]> => {
  const filter = { owner: "local", status: undefined, kind: undefined, before: undefined, limit };
  return (await listRuns(db, filter)).map(({ taskId }) => taskId);
};

/** Sweeps once and returns the log. */
async function sweepOnce(deps: ResearchDeps, { checkFigures = false } = {}): Promise<string> {
  const lines: string[] = [];
  const log = createTestLog((line) => lines.push(line));
  const repairPolls = () => resetFarPolls(deps.db, { now: clock.now(), latest: clock.now() + 3_600_000 });
  const options = { deps: { ...deps, log }, repairPolls, deliver: async () => {}, savedToFile: new Set<string>() };
  await sweep(options, { checkFigures });
  return lines.join("");
}

async function start(stage: Stage): Promise<string> {
  const agent = { start: async () => ({ kind: "accepted" as const, interactionId: crypto.randomUUID() }) };
  const { taskId, ...started } = await startResearch(stage.deps(agent), { ...request, forceNew: true });
  if (started.kind === "started") await started.sending;
  await stage.store.db.updateTable("research_tasks").set({ next_poll_at: 0 }).where("task_id", "=", taskId).execute();
  return taskId;
}

/** Claims due runs, and checks that a fleet, which reads the given ones instead, would not set them aside. */
async function polled({ db, processId }: Stage["store"], taskIds: string[]): Promise<string[]> {
  const now = clock.now();
  const read = await readPolledRuns(db, taskIds);
  const claimed = await claimDueRuns(db, { processId, limit: 9, now, nextPollAt: now + 3_600_000 });
  expect(claimed.filter(({ taskId }) => read.get(taskId) === "damaged")).toEqual([]);
  return claimed.map(({ taskId }) => taskId).toSorted();
}

/** A damaged value that polls do not need keeps a run from being listed, but its report is still collected. */
const isStillDue = (column: string, value: string): boolean =>
  column === "next_poll_at" ? value.startsWith("-") : !POLLED_COLUMNS.some((needed) => needed === column);

describe("a number that no version writes", () => {
  test.for(IMPOSSIBLE)(
    "(%s) is reported in every column of a run, and stops no other run (P5)",
    async (value, context) => {
      const stage = await openRunner(context);
      const { db } = stage.store;
      const columns = await numberColumns(db);
      expect(columns).toEqual(expect.arrayContaining(["created_at", "deadline_at", "next_poll_at", "lease_until"]));
      for (const column of columns) {
        const [damaged, healthy] = [await start(stage), await start(stage)];
        await damage(db, damaged, { column, value });
        expect(await listed(db), column).toEqual([healthy]);
        await expect(findRun(db, "local", damaged), column).rejects.toThrow("is damaged and cannot be read");
        const due = isStillDue(column, value) ? [damaged, healthy].toSorted() : [healthy];
        expect(await polled(stage.store, [damaged, healthy]), column).toEqual(due);
        expect(await sweepOnce(stage.deps()), column).toContain(`Run ${damaged}: its stored data is damaged`);
        const later = await start(stage);
        expect(await listed(db), column).toEqual(expect.arrayContaining([healthy, later]));
        await db.deleteFrom("research_attempts").execute();
        await db.deleteFrom("research_tasks").execute();
      }
    },
  );

  test.for(["9007199254740995", "-9007199254740993"])(
    "(%s) in the creation time of many runs still leads to all others, page by page (P5)",
    async (value) => {
      const db = await openDatabase();
      for (const task_id of ["a", "b", "c", "d"]) await insertRun(db, { task_id });
      for (const task_id of ["e", "f", "g", "h"]) await insertRun(db, { task_id, created_at: 5 });
      for (const task_id of ["c", "d", "e", "f"]) await damage(db, task_id, { column: "created_at", value });
      // One more than the limit, which shows that there is another page.
      expect(await listed(db, 1)).toEqual(["h", "g"]);
      for (const limit of [3, 5, 50]) expect(await listed(db, limit)).toEqual(["h", "g", "b", "a"]);
    },
  );

  test("is left out of figures and of the history that estimates are based on (P5)", async () => {
    const db = await openDatabase();
    for (const task_id of ["healthy", "damaged"]) {
      await insertRun(db, { task_id, status: "completed", query: task_id, completed_at: 9 });
    }
    await damage(db, "damaged", { column: "completed_at", value: TOO_LARGE });
    expect(await readUsage(db, "local", 9)).toMatchObject({ months: [{ month: "1970-01", runs: 1 }] });
    expect(await finishedAgentRuns(db, "local", 9)).toMatchObject([{ query: "healthy" }]);
  });
});

describe("impossible token counts and costs", () => {
  const FIGURES = {
    tokens_input: 1_000,
    tokens_output: 100,
    cost_usd: 2,
    usage_final: 1,
    judge_cost_micros: 50,
  } as const;

  test.for([
    ["tokens_output", TOO_LARGE, { tokens: { input: 0, output: 0 }, cost: { usd: undefined }, usageFinal: false }],
    ["cost_usd", "-75", { tokens: { input: 0, output: 0 }, cost: { usd: undefined }, usageFinal: false }],
    ["judge_cost_micros", TOO_LARGE, { tokens: { input: 1_000, output: 100 }, cost: { usd: 2 }, usageFinal: true }],
  ] as const)(
    "in %s become unknown at a sweep, which logs it once (P5)",
    async ([column, value, expected], context) => {
      const stage = await openRunner(context);
      const { db } = stage.store;
      for (const task_id of ["damaged", "healthy"]) await insertRun(db, { task_id, status: "completed", ...FIGURES });
      await damage(db, "damaged", { column, value });
      expect(await sweepOnce(stage.deps(), { checkFigures: true })).toContain(
        "[WARN] Run damaged: its stored token counts or cost were impossible and are now unknown.",
      );
      expect(await findRun(db, "local", "damaged")).toMatchObject(expected);
      expect(await findRun(db, "local", "healthy")).toMatchObject({ tokens: { input: 1_000 }, cost: { usd: 2 } });
      expect(await findJudgeCost(db, "damaged")).toMatchObject({ incomplete: column === "judge_cost_micros" });
      expect(await sweepOnce(stage.deps(), { checkFigures: true })).not.toContain("impossible");
    },
  );

  test("are cleared while the process runs, after their run could not be read (P5)", async (context) => {
    const stage = await openRunner(context);
    const { db } = stage.store;
    const taskId = crypto.randomUUID();
    await insertRun(db, { task_id: taskId, status: "completed" });
    // Found by earlier tests of this process: the second sweep would check the figures, too.
    takeUnreadable();
    const runner = createRunner({ deps: stage.deps(), pollIntervalMs: 100, maxRps: 50, deliver: async () => 0 });
    runner.start();
    // The first sweep checks the figures of all runs.
    await waitFor(async () => expect(await runner.idle()).toBe(true));
    await damage(db, taskId, { column: "tokens_input", value: TOO_LARGE });
    await expect(findRun(db, "local", taskId)).rejects.toThrow("is damaged and cannot be read");
    await waitFor(async () => expect(await findRun(db, "local", taskId)).toMatchObject({ tokens: { input: 0 } }));
  });
});
