import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Kysely, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { insertRunning } from "../../runs/run-store.ts";
import { MIGRATIONS } from "../migrate.ts";
import { openStore, type Store } from "../store.ts";
import { openSqlite, removeOldBackups } from "./sqlite.ts";
import { createTestLog } from "../../../test/kit/log.ts";
import { insertRun } from "../../../test/kit/store/store-rows.ts";
import { deleteRun } from "../../runs/deletion/deletion-store.ts";
import { saveResult } from "../../runs/result-store.ts";

let directory: string;
let store: Store;
let lines: string[];
const log = createTestLog((line) => lines.push(line));
const open = (): Promise<Store> => openStore({ file: join(directory, "deep_research.db"), clock: systemClock, log });

beforeEach(async () => {
  lines = [];
  directory = mkdtempSync(join(tmpdir(), "gemini-search-store-"));
  store = await open();
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const newRun = () => ({
  taskId: crypto.randomUUID(),
  owner: "local",
  kind: "deep_search" as const,
  query: "a question",
  options: {},
  client: "test",
  processId: store.processId,
  now: Date.now(),
});

describe("the file", () => {
  test("has the required tables and columns, is readable by its owner only, and is intact (P1)", async () => {
    const columns = async (table: string): Promise<string[]> => {
      const result = await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(store.db);
      return result.rows.map(({ name }) => name);
    };
    expect(await columns("research_tasks")).toEqual(
      expect.arrayContaining([
        "task_id",
        "interaction_id",
        "query",
        "status",
        "progress",
        "enable_notifications",
        "created_at",
        "updated_at",
        "completed_at",
      ]),
    );
    expect(await columns("research_results")).toEqual(
      expect.arrayContaining(["task_id", "report_markdown", "sources_json", "metadata_json"]),
    );
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o077).toBe(0);
    const check = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db);
    expect(check.rows[0]?.integrity_check).toBe("ok");
  });

  test("a query that is repeated after another process has added a column returns its values (P1)", async () => {
    const read = () => sql<object>`select * from repeated order by id`.execute(store.db);
    const other = await openSqlite(join(directory, "deep_research.db"), log);
    await sql`create table repeated (id integer)`.execute(other.db);
    await sql`insert into repeated values (1)`.execute(other.db);
    expect((await read()).rows).toEqual([{ id: 1 }]);
    await sql`alter table repeated add column word text default 'new'`.execute(other.db);
    expect((await read()).rows).toEqual([{ id: 1, word: "new" }]);
    await other.close();
  });

  test("written by a newer program is read, not written, and the answer says so", async () => {
    const run = newRun();
    await insertRunning(store.db, run);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')`.execute(store.db);
    await store.close();
    store = await open();
    expect(await store.obstacle()).toMatchObject({ suggestion: expect.stringContaining("Update") });
    expect((await currentOf(store.db, "local", run.taskId)).status).toBe("running");
    await expect(insertRunning(store.db, newRun())).rejects.toMatchObject({ code: "SQLITE_ERROR" });
    expect(lines.join("")).toContain("newer gemini-search-mcp");
  });

  test("of another development build is neither read nor written, and the answer says what to do (P5)", async () => {
    await sql`update kysely_migration set name = '0001-runs'`.execute(store.db);
    await store.close();
    store = await open();
    expect(await store.obstacle()).toMatchObject({
      code: "SQLITE_ERROR",
      message: expect.stringContaining("was created by a development build"),
      suggestion: expect.stringContaining("Move it away"),
    });
    await expect(currentOf(store.db, "local", "any")).rejects.toMatchObject({ code: "SQLITE_ERROR" });
    expect(readdirSync(directory).filter((name) => name.includes("before-update"))).toEqual([]);
  });

  test("is copied before its schema is updated, and older programs then only read it (P5)", async () => {
    const run = newRun();
    await insertRunning(store.db, run);
    await store.close();
    const file = join(directory, "deep_research.db");
    const up = (db: Kysely<unknown>) => db.schema.alterTable("research_tasks").addColumn("next", "text").execute();
    const updated = await Promise.all(
      [1, 2, 3].map(() => openSqlite(file, log, { ...MIGRATIONS, "0002-next": { up } })),
    );
    expect((await currentOf(updated[0]?.db ?? store.db, "local", run.taskId)).status).toBe("running");
    for (const { close } of updated) await close();
    const copy = readdirSync(directory).find((name) => name.includes("before-update")) ?? "";
    expect(statSync(join(directory, copy)).mode & 0o077).toBe(0);
    const before = await openSqlite(join(directory, copy), log);
    expect((await currentOf(before.db, "local", run.taskId)).status).toBe("running");
    await before.close();
    store = await open();
    expect(await store.obstacle()).toMatchObject({ message: expect.stringContaining("newer gemini-search-mcp") });
    expect((await currentOf(store.db, "local", run.taskId)).status).toBe("running");
  });

  test("gets one schema from eight processes that start at once", async () => {
    await store.close();
    rmSync(directory, { recursive: true });
    directory = mkdtempSync(join(tmpdir(), "gemini-search-store-"));
    const program = `
      const { openStore } = await import(${JSON.stringify(new URL("../store.ts", import.meta.url).href)});
      const log = { debug() {}, info() {}, warn(line) { console.log(line) }, error(line) { console.log(line) } };
      const clock = { now: Date.now };
      const store = await openStore({ file: ${JSON.stringify(join(directory, "deep_research.db"))}, clock, log });
      console.log((await store.obstacle()) === undefined);
      await store.close();`;
    const start = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    const outputs = await Promise.all(Array.from({ length: 8 }, start));
    expect(outputs.map(({ stdout }) => stdout.trim())).toEqual(Array.from({ length: 8 }, () => "true"));
    store = await open();
  });

  test("is replaced by a store in memory if it cannot be created (B5)", async () => {
    await store.close();
    store = await openStore({ file: join(directory, "missing", "x.db"), clock: systemClock, log });
    expect(await store.obstacle()).toMatchObject({ code: "SQLITE_ERROR" });
    await insertRunning(store.db, newRun());
    expect(lines.join("")).toContain("nothing is kept");
  });
});

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
  expect(await deleteRun(db, { taskIds: ["run-0"], now: 1 })).toBe(true);
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
