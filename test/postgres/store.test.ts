/** The PostgreSQL store: concurrent opening, error messages, and recovery from failures. */

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { machineMark, thisProcess } from "../../src/platform/process-identity.ts";
import { findResult } from "../../src/runs/result-store.ts";
import { currentOf } from "../../src/runs/conversation-store.ts";
import { finishRun, insertRunning } from "../../src/runs/run-store.ts";
import { processLiveness, registerProcess } from "../../src/store/processes.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { ask, emptyDatabase, sharedFor } from "../kit/store/databases.ts";
import { UNRESOLVABLE_HOST } from "../kit/services/unresolvable-host.ts";
import { waitFor } from "../kit/wait-for.ts";
import { createTestLog } from "../kit/log.ts";

let lines: string[];
const log = createTestLog((line) => lines.push(line));
beforeEach(() => {
  lines = [];
});
afterEach(() => {
  vi.useRealTimers();
});

async function open(url: string): Promise<Store> {
  const store = await openStore({ file: undefined, shared: { url, connections: 4 }, clock: systemClock, log });
  onTestFinished(() => store.close().catch(() => undefined));
  return store;
}

const urlOf = async (): Promise<string> => (await sharedFor())?.url ?? "";

const newRun = ({ processId }: Store) => ({
  taskId: randomUUID(),
  owner: "local",
  kind: "deep_search" as const,
  query: "a question with a NUL\0in it",
  options: {},
  client: "a client with a NUL\0in it",
  processId,
  now: Date.now(),
});

describe("the schema", () => {
  test("is created once by eight processes that start at once on an empty database (P1)", async () => {
    const url = await emptyDatabase();
    const program = `
      const { openStore } = await import(${JSON.stringify(new URL("../../src/store/store.ts", import.meta.url).href)});
      const log = { debug() {}, info() {}, warn(line) { console.log(line) }, error(line) { console.log(line) } };
      const shared = { url: ${JSON.stringify(url)}, connections: 2 };
      const store = await openStore({ file: undefined, shared, clock: { now: Date.now }, log });
      console.log((await store.obstacle()) === undefined);
      await store.close();`;
    const start = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    const outputs = await Promise.all(Array.from({ length: 8 }, start));
    expect(outputs.map(({ stdout }) => stdout.trim())).toEqual(Array.from({ length: 8 }, () => "true"));
    const columns = await ask<{ column_name: string }>(
      url,
      "select column_name from information_schema.columns where table_name = 'research_tasks'",
    );
    expect(columns.map(({ column_name }) => column_name)).toEqual(
      expect.arrayContaining(["task_id", "interaction_id", "query", "status", "progress", "created_at", "updated_at"]),
    );
    expect(await ask(url, "select * from processes")).toEqual([]);
  });

  test("written by a newer program is read, not written, and the answer says so", async () => {
    const url = await urlOf();
    const first = await open(url);
    const run = newRun(first);
    await insertRunning(first.db, run);
    await ask(url, "insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')");
    const store = await open(url);
    expect(await store.obstacle()).toMatchObject({ suggestion: expect.stringContaining("Update") });
    expect((await currentOf(store.db, "local", run.taskId)).status).toBe("running");
    await expect(insertRunning(store.db, newRun(store))).rejects.toMatchObject({
      code: "SQLITE_ERROR",
      message: "The database cannot be written.",
    });
    expect(lines.join("")).toContain("update this installation to store new runs");
  });
});

test("values are read back as written: numbers as numbers, text without NUL, whole reports", async () => {
  const store = await open(await urlOf());
  const run = newRun(store);
  await insertRunning(store.db, run);
  const result = { report: "# Überschrift 😀\n'\"\\", sources: [], metadata: { verified: true }, partial: false };
  const tokens = { input: 5_000_000_000, output: 2 };
  const cost = { usd: 12_345.678_9, incomplete: false, estimated: false };
  const about = { taskId: run.taskId, owner: run.owner, keyFingerprint: undefined, model: "m", at: run.now };
  const outcome = { cost, at: run.now };
  const entry = { ...about, entryId: "e", kind: "round" as const, isConfirmed: false, maxUsd: 1, outcome };
  const figures = {
    backend: "api",
    model: "m",
    tokens,
    cost,
    entries: [entry],
    usageFinal: true,
  };
  const end = { taskId: run.taskId, processId: store.processId, error: undefined, now: run.now, ...figures };
  expect(await finishRun(store.db, { ...end, to: "completed", result })).toBe(true);
  expect(await currentOf(store.db, "local", run.taskId)).toMatchObject({
    query: "a question with a NULin it",
    client: "a client with a NULin it",
    createdAt: run.now,
    tokens,
    cost,
  });
  expect((await findResult(store.db, run.taskId))?.report).toBe(result.report);
});

describe("an unusable database", () => {
  test.each([
    ["mysql://user:hunter2-secret@localhost/x", "is not the address of a PostgreSQL database"],
    ["postgres://user:hunter2-secret@127.0.0.1:1/x", "cannot be reached"],
    [`postgres://user:hunter2-secret@${UNRESOLVABLE_HOST}/x`, "cannot be reached"],
  ])("(%s) is reported in our words, without the password, and never replaced by memory (P5)", async (url, words) => {
    const refused = await open(url).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "SQLITE_ERROR", message: expect.stringContaining(words) });
    expect(JSON.stringify(refused) + String(refused) + lines.join("")).not.toContain("hunter2-secret");
  });

  test("with a wrong password or an unknown name is distinguished from a server that is down", async () => {
    const url = await urlOf();
    const wrong = new URL(url);
    wrong.password = "wrong-password-4242";
    for (const refused of [wrong.href, `${url}_missing`]) {
      await expect(open(refused)).rejects.toMatchObject({ message: "The PostgreSQL database refuses the sign-in." });
    }
  });
});

describe("concurrent work", () => {
  test("survives a connection that the server ends, with one failed call at most", async () => {
    const url = await urlOf();
    const { db } = await open(url);
    await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`.execute(db)));
    const busy = sql`select pg_sleep(30)`.execute(db).catch((error: unknown) => error);
    await waitFor(async () => {
      const sleeping = await ask(url, "select 1 from pg_stat_activity where query like 'select pg_sleep(30)%'");
      expect(sleeping).not.toEqual([]);
    });
    await ask(
      url,
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    expect(await busy).toMatchObject({ message: "The PostgreSQL database cannot be reached.", retryable: true });
    await waitFor(() => sql`select 1`.execute(db));
  });

  test("resolves two transactions that deadlock: both succeed", async () => {
    const { db } = await open(await urlOf());
    await sql`create table counted (name text primary key, n integer not null)`.execute(db);
    await sql`insert into counted values ('a', 0), ('b', 0)`.execute(db);
    let began = 0;
    let bothBegan = (): void => {};
    const both = new Promise<void>((resolve) => void (bothBegan = resolve));
    const add = (names: string[]) =>
      db.transaction().execute(async (transaction) => {
        for (const name of names) {
          await sql`update counted set n = n + 1 where name = ${name}`.execute(transaction);
          began += 1;
          if (began === 2) bothBegan();
          await both;
        }
      });
    await Promise.all([add(["a", "b"]), add(["b", "a"])]);
    const { rows } = await sql<{ n: number }>`select n from counted`.execute(db);
    expect(rows).toEqual([{ n: 2 }, { n: 2 }]);
  });

  test("reads after a lock what the holder wrote, whatever isolation level the server has by default", async () => {
    const url = await urlOf();
    const name = new URL(url).pathname.slice(1);
    await ask(url, `alter database ${name} set default_transaction_isolation = 'serializable'`);
    const { db } = await open(url);
    const level = await db
      .transaction()
      .execute((transaction) =>
        sql<{ level: string }>`select current_setting('transaction_isolation') as level`.execute(transaction),
      );
    expect(level.rows).toEqual([{ level: "read committed" }]);
  });

  test("a clock that differs from the database's is named", async () => {
    const url = await urlOf();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
    await open(url);
    expect(lines.join("")).toMatch(/This machine's clock is [\d]{5} ms behind the database's/);
  });
});

test("a process is judged by its pid only on its own machine and in its own container (P2)", async () => {
  const { db, processId } = await open(await urlOf());
  const gone = { ...thisProcess(), pid: 2 ** 22 + 1 };
  const [host, boot, container] = machineMark().split(" ");
  const marks = {
    here: machineMark(),
    namesake: `${host} 00000000-0000-0000-0000-000000000000 ${container}`,
    "another container": `${host} ${boot} pid:[1]`,
    elsewhere: "another-host",
  };
  for (const [id, mark] of Object.entries(marks)) await registerProcess(db, { ...gone, processId: id, host: mark }, 1);
  const judged = await processLiveness(db, [processId, ...Object.keys(marks), "left in order"]);
  expect(Object.fromEntries(judged)).toEqual({
    [processId]: "alive",
    here: "dead",
    namesake: "unknown",
    "another container": "unknown",
    elsewhere: "unknown",
    "left in order": "dead",
  });
});
