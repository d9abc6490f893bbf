/**
 * The migration of a database file to PostgreSQL: everything or nothing, however often it is interrupted.
 */

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, type TestContext } from "vitest";
import { type CommandResult, startCommand } from "../kit/server/command.ts";
import { ask, emptyDatabase, onServer } from "../kit/store/databases.ts";
import { AWKWARD, fillStore, runId, withFile } from "../kit/store/filled-store.ts";
import { isolatedEnvironment, ROOT, startServer, temporaryDirectory } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";
import { insertSchedule } from "../../src/runs/schedules/schedule-store.ts";

interface Migration {
  file: string;
  url: string;
  /** The environment of processes that use the file, and of those that use the target. */
  env: Record<string, string>;
  there: Record<string, string>;
  migrate(...args: string[]): Promise<CommandResult>;
  /** Runs the migration with a kill at the n-th pass of a failpoint. */
  killed(failpoint: string): Promise<void>;
}

/** A filled file, and an empty target database in the environment. */
async function openMigration({ onTestFinished }: TestContext, runs = 230): Promise<Migration> {
  const configDir = temporaryDirectory();
  onTestFinished(() => rmSync(configDir, { recursive: true, force: true }));
  const file = join(configDir, "deep_research.db");
  const url = await emptyDatabase();
  await fillStore(file, runs);
  const env = isolatedEnvironment(configDir);
  const there = { ...env, GEMINI_SEARCH_DATABASE_URL: url };
  return {
    file,
    url,
    env,
    there,
    migrate: (...args) => startCommand(["migrate", ...args], { env: there }).ended,
    killed: async (failpoint) => {
      const program = `import("${join(ROOT, "dist-failpoints/main.js")}").then(({ main }) => main(["migrate"]))`;
      const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        env: { ...there, GEMINI_SEARCH_FAILPOINT: failpoint },
      });
      await expect(run).rejects.toMatchObject({ signal: "SIGKILL" });
    },
  };
}

const rowsOf = async (url: string, table: string): Promise<number> =>
  (await ask<{ count: number }>(url, `select count(*) as count from ${table}`))[0]?.count ?? -1;

const TABLES = {
  research_tasks: 230,
  research_attempts: 230,
  ledger: 231,
  research_results: 115,
  research_files: 4,
  research_pages: 1,
  research_evidence: 2,
  research_events: 805,
  notification_outbox: 3,
  schedules: 0,
  webhooks: 3,
  access_tokens: 3,
};

const moved = Object.entries(TABLES).map(([table, rows]) => ({ table, rows_from: rows, rows_to: rows, same: true }));

test("migrate copies every row unchanged but those of processes, and the runs are found in the target (P7)", async (context) => {
  const { migrate, url, there, env } = await openMigration(context);
  const { code, stdout, stderr } = await migrate("--json");
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ success: true, tables: moved });
  expect(stderr).toMatch(/research_tasks: \d+ rows of 230/);
  for (const table of ["processes", "leases"]) expect(await rowsOf(url, table)).toBe(0);
  const texts = await ask<{ current_action: string }>(
    url,
    "select distinct current_action from research_tasks where current_action is not null order by 1",
  );
  expect(texts.map(({ current_action }) => current_action).toSorted()).toEqual(AWKWARD.toSorted());
  expect(await ask(url, `select tokens_input from research_tasks where task_id = '${runId(1)}'`)).toEqual([
    { tokens_input: Number.MAX_SAFE_INTEGER },
  ]);
  const costs = `select cost_micros from ledger where task_id = '${runId(1)}' and state = 'settled'`;
  expect(await ask(url, costs)).toEqual([{ cost_micros: 433_334 }]);
  expect(await ask(url, `select parent_task_id from research_tasks where task_id = '${runId(0)}'`)).toEqual([
    { parent_task_id: runId(229) },
  ]);
  for (const word of ["findable44", "titled44"]) {
    const found = `select task_id from research_search where document @@ phraseto_tsquery('simple', '${word}')`;
    expect(await ask(url, found)).toEqual([{ task_id: runId(44) }]);
  }
  await ask(
    url,
    `insert into notification_outbox (task_id, channel, kind, payload_json, created_at) values ('${runId(9)}', 'c', 'k', '{}', 1)`,
  );
  expect(await ask(url, "select max(outbox_id) as last from notification_outbox")).toEqual([{ last: 22 }]);

  const report = await startCommand(["show", runId(228)], { env: there }).ended;
  expect(report.stdout, report.stderr).toContain("Report 228");
  const here = await startCommand(["list"], { env }).ended;
  expect(here.stderr).toMatch(/was moved to PostgreSQL at 127\.0\.0\.1:\d+\/test_\w+ on 20/);
});

test("migrate pauses the schedules of the file, so that no run is paid for twice, and can be repeated (P7, I17)", async (context) => {
  const { migrate, url, file } = await openMigration(context, 4);
  const rule = { every: "day", at: "07:00", time_zone: "UTC" } as const;
  const schedule = { owner: "local", operation: "search", input: { query: "?" }, rule, budgetUsd: 5 } as const;
  await withFile(file, async (db) => void (await insertSchedule(db, { ...schedule, now: Date.now() })));
  expect((await migrate()).code).toBe(0);
  const state = "select paused, next_at is null as ended from schedules";
  expect(await ask(url, state)).toEqual([{ paused: 0, ended: false }]);
  await withFile(file, async (db) => {
    const rows = await db.selectFrom("schedules").select(["paused", "next_at"]).execute();
    expect(rows).toEqual([{ paused: 1, next_at: null }]);
  });
  expect((await migrate()).stdout).toContain("The migration was completed earlier");
});

test("migrate that is killed at any point copies everything or nothing, and can be repeated (P7, P2)", async (context) => {
  const { migrate, killed, url, file, there, env } = await openMigration(context);
  for (const point of ["after-copied-batch:1", "after-copied-batch:5"]) {
    await killed(point);
    await waitFor(async () => expect(await rowsOf(url, "research_tasks")).toBe(0));
  }
  expect((await startCommand(["list"], { env: there }).ended).code).toBe(0);
  expect((await startCommand(["list"], { env }).ended).stderr).not.toContain("was moved");
  await withFile(file, async (db) => {
    await db.updateTable("research_tasks").set({ status: "failed" }).where("task_id", "=", runId(1)).execute();
  });
  await killed("before-source-marked");
  expect(await ask(url, `select status from research_tasks where task_id = '${runId(1)}'`)).toEqual([
    { status: "failed" },
  ]);
  const { code, stdout, stderr } = await migrate();
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("The migration was completed earlier");
  expect(stdout).not.toContain("DIFFERENT");
  expect((await startCommand(["list"], { env }).ended).stderr).toContain("was moved");
});

test("migrate refuses a target with other runs, and a file or a target that processes use (P7)", async (context) => {
  const { migrate, url, env, there } = await openMigration(context, 10);
  const server = await startServer({ env, configDir: env["HOME"] ?? "" });
  await server.call("list_research", {});
  const used = await migrate();
  expect(used.stderr).toContain(`Other processes use the file (${server.pid})`);
  await server.close();
  const early = await startServer({ env: there, configDir: env["HOME"] ?? "" });
  await early.call("list_research", {});
  // Every process that has followed runs leaves such a row.
  await ask(url, "insert into leases values ('sweep', '', '', 1) on conflict do nothing");
  expect((await migrate()).stderr).toContain("Other processes use the PostgreSQL database");
  const listed = await startCommand(["list"], { env: there }).ended;
  expect(listed.code, listed.stderr).toBe(0);
  await early.close();
  // The row of a process is deleted when it exits, possibly after its connection is closed.
  await waitFor(async () => {
    const done = await migrate();
    expect(done.code, done.stderr).toBe(0);
  });

  const second = await openMigration(context, 5);
  const refused = await startCommand(["migrate"], { env: { ...second.env, GEMINI_SEARCH_DATABASE_URL: url } }).ended;
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("contains runs that did not come from this file");
  expect(await rowsOf(url, "research_tasks")).toBe(10);
  const idle = await startServer({ env: second.env, configDir: second.env["HOME"] ?? "" });
  await idle.call("list_research", {});
  // The idle server may be writing at this moment.
  await waitFor(async () => {
    const forced = await second.migrate("--force");
    expect(forced.code, forced.stderr).toBe(0);
  });
  await idle.close();
});

test("migrate names each error and what to do, and never the password (A6, T9)", async (context) => {
  const { env, url, file } = await openMigration(context, 4);
  const password = new URL(url).password;
  const user = `reader_${randomUUID().slice(0, 8)}`;
  await onServer(`create role ${user} login password 'never-real-reader'`);
  const newer = await emptyDatabase();
  await ask(newer, "create table kysely_migration (name text, timestamp text)");
  await ask(newer, "insert into kysely_migration values ('9999-from-the-future', '')");
  const address = new URL(url);
  const as = (change: (to: URL) => void): string => {
    const to = new URL(address);
    change(to);
    return to.href;
  };
  const cases: [string[], string | undefined, RegExp][] = [
    [["--to", as((to) => (to.port = "1"))], undefined, /cannot be reached/],
    [["--to", as((to) => (to.password = "never-real-wrong"))], undefined, /refuses the sign-in/],
    [["--to", as((to) => (to.pathname = "/nowhere"))], undefined, /refuses the sign-in/],
    [["--to", as((to) => ((to.username = user), (to.password = "never-real-reader")))], undefined, /cannot be written/],
    [["--to", newer], undefined, /written by a newer gemini-search-mcp/],
    [["--to", "-"], `mysql://ann:${password}@host/x`, /is not the address of a PostgreSQL database/],
    [[], undefined, /No target database given/],
    [["--from", `${file}-not`, "--to", url], undefined, /There is no database at/],
  ];
  for (const [args, stdin, message] of cases) {
    const { code, stdout, stderr } = await startCommand(["migrate", "--json", ...args], { env, stdin }).ended;
    expect(code).toBeGreaterThan(0);
    expect(JSON.parse(stdout).error.message).toMatch(message);
    for (const secret of [password, decodeURIComponent(password), "never-real-wrong", "never-real-reader"]) {
      expect(stdout + stderr).not.toContain(secret);
    }
  }
  const { code } = await startCommand(["migrate", "--to", "-"], { env, stdin: `${url}\n` }).ended;
  expect(code).toBe(0);
});
