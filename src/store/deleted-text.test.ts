/** Deleted text does not remain in SQLite's files. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { insertRun } from "../../test/kit/store/store-rows.ts";
import { deleteRun } from "../runs/deletion/deletion-store.ts";
import { saveResult } from "../runs/result-store.ts";
import { removeOldBackups } from "./deleted-text.ts";
import { openSqlite } from "./sqlite/sqlite.ts";
import { silentLog as log } from "../../test/kit/log.ts";

test("a deleted report is nowhere in the database file (T-2)", async (context) => {
  const directory = mkdtempSync(join(tmpdir(), "deleted-text-"));
  context.onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "runs.db");
  const { db, close } = await openSqlite(file, log);
  const reports = Array.from({ length: 20 }, (_, n) => `Kept${n} ${"plain words ".repeat(50)}`);
  for (const [n, report] of ["Zyxomarker is secret. ".repeat(300), ...reports].entries()) {
    const task_id = `run-${n}`;
    await insertRun(db, { task_id, status: "completed", query: "q" });
    await db.transaction().execute(async (transaction) => {
      const result = { report, sources: [], metadata: {}, partial: false };
      await saveResult(transaction, { taskId: task_id, query: "q", result, now: 1 });
    });
  }
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  const traces = () => readFileSync(file).toString("latin1").toLowerCase().includes("zyxomarker");
  expect(traces()).toBe(true);
  expect(await deleteRun(db, { taskId: "run-0", now: 1 })).toBe(true);
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  expect(traces()).toBe(false);
  await close();
});

test("backups from before an update are deleted after 30 days, and nothing else (T-2)", async (context) => {
  const directory = mkdtempSync(join(tmpdir(), "backups-"));
  context.onTestFinished(() => rmSync(directory, { recursive: true }));
  const now = 1_800_000_000_000;
  const file = join(directory, "runs.db");
  const made = (days: number) => `runs.db.before-update-${now - days * 86_400_000}`;
  const kept = ["runs.db", made(29), "runs.db.before-update-mine", "other.db.before-update-1"];
  for (const name of [...kept, made(31)]) writeFileSync(join(directory, name), "");
  await removeOldBackups(file, now);
  expect(readdirSync(directory).toSorted()).toEqual(kept.toSorted());
  await removeOldBackups(join(directory, "missing", "runs.db"), now);
  expect(existsSync(file)).toBe(true);
});
