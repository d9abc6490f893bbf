/** A database of an earlier version: when it is migrated, and what happens to its runs and to pg-boss's schema. */

import { Kysely, PostgresDialect } from "kysely";
import { getConstructionPlans, getRollbackPlans, PgBoss } from "pg-boss";
import { Client, Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { openDistributedQueue } from "../../src/queue/distributed.ts";
import type { Tables } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { pollKeyOf } from "../../src/store/poll-key.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { ask, emptyDatabase } from "../kit/store/databases.ts";
import { waitFor } from "../kit/wait-for.ts";
import { silentLog as log } from "../kit/log.ts";

const BEFORE_POLLS = "0015-joins";
const SCHEMA = "gemini_search_jobs";

/** Contains a run followed by a worker of the earlier version: its job, its lease, and its assignment. */
async function olderDatabase(): Promise<string> {
  const url = await emptyDatabase();
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 2 }) }),
  });
  await migrate(db, BEFORE_POLLS);
  await db.destroy();
  await ask(
    url,
    `insert into research_tasks (task_id, kind, query, status, created_at, updated_at, interaction_id, lease_owner,
      lease_until, next_poll_at, handed_to, deadline_at)
    values ('followed', 'agent', 'q', 'running_async', 1, 1, 'v1_followed', 'w', 9, 5, 'w', 99999999999999),
      ('ended', 'agent', 'q', 'completed', 1, 1, 'v1_ended', 'w', null, null, null, 5);
    insert into research_attempts (attempt_id, task_id, interaction_id, state, created_at, key_fingerprint, base_url)
    values ('a', 'followed', 'v1_followed', 'accepted', 1, 'k', ''), ('b', 'ended', 'v1_ended', 'accepted', 1, 'k', '');
    insert into processes (process_id, host, pid, started_at, follows_at) values ('w', 'elsewhere', 1, 1, 1);`,
  );
  const boss = new PgBoss({ connectionString: url, schema: SCHEMA, max: 1, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("runs");
  await boss.insert("runs", [{ singletonKey: "followed" }]);
  await boss.stop({ graceful: false });
  return url;
}

async function open(url: string): Promise<Store> {
  const store = await openStore({ file: undefined, shared: { url, connections: 2 }, clock: systemClock, log });
  onTestFinished(() => store.close());
  return store;
}

const openQueue = async (url: string) => {
  const queue = await openDistributedQueue({ url, key: pollKeyOf({ key: "k", baseUrl: "" }), makesPolls: true, log });
  onTestFinished(() => queue.close());
  return queue;
};

test("a database is not migrated to jobs per poll while a process of an earlier version is connected (P5)", async () => {
  const url = await olderDatabase();
  const older = new Client({ connectionString: url, application_name: "gemini-search-mcp" });
  await older.connect();
  const schema = () => ask(url, "select max(name) as name from kysely_migration");
  await expect(open(url)).rejects.toMatchObject({
    code: "SQLITE_ERROR",
    message: expect.stringContaining("Nothing was changed"),
    suggestion: expect.stringContaining("Stop all servers and workers of the earlier version"),
  });
  expect(await schema()).toEqual([{ name: BEFORE_POLLS }]);
  await older.end();
  await waitFor(() => open(url), { interval: 200 });
  expect(await schema()).not.toEqual([{ name: BEFORE_POLLS }]);
});

test("processes of this version that start at once migrate an older database once (P5)", async () => {
  const url = await olderDatabase();
  const stores = await Promise.all([1, 2, 3, 4].map(() => open(url)));
  for (const { obstacle } of stores) expect(await obstacle()).toBeUndefined();
});

test("a run of an earlier version keeps its key, and has no lease and no job of the former queue (P5)", async () => {
  const url = await olderDatabase();
  const { db } = await open(url);
  await openQueue(url);
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "poll_key", "lease_until"])
    .orderBy("task_id")
    .execute();
  const poll_key = pollKeyOf({ key: "k", baseUrl: "" });
  expect(rows).toEqual([
    // An ended run may be reopened.
    { task_id: "ended", poll_key, lease_until: null },
    { task_id: "followed", poll_key, lease_until: null },
  ]);
  expect(await ask(url, `select name from ${SCHEMA}.queue where name = 'runs'`)).toEqual([]);
  const columns = await ask(
    url,
    "select column_name from information_schema.columns where column_name in ('handed_to', 'follows_at')",
  );
  expect(columns).toEqual([]);
});

test("the queue's own migrations run to their end, those in the background too (P5)", async () => {
  const url = await emptyDatabase();
  await ask(url, getConstructionPlans(SCHEMA));
  const [{ version: newest } = { version: 0 }] = await ask<{ version: number }>(
    url,
    `select version from ${SCHEMA}.version`,
  );
  for (let version = newest; version > 32; version -= 1) await ask(url, getRollbackPlans(SCHEMA, version));
  expect(await ask(url, `select version from ${SCHEMA}.version`)).toEqual([{ version: 32 }]);
  await openQueue(url);
  expect(await ask(url, `select version from ${SCHEMA}.version`)).toEqual([{ version: newest }]);
  // One step every ten seconds, of which two are enough.
  await ask(
    url,
    `delete from ${SCHEMA}.bam where status = 'pending'
      and id not in (select id from ${SCHEMA}.bam where status = 'pending' limit 1)`,
  );
  await waitFor(
    async () => {
      const states = await ask<{ status: string; several: boolean }>(
        url,
        `select status, count(*) > 1 as several from ${SCHEMA}.bam group by status`,
      );
      expect(states).toEqual([{ status: "completed", several: true }]);
    },
    { timeout: 40_000, interval: 500 },
  );
});
