/** Updates of the schema, of this program and of pg-boss. */

import type { Kysely } from "kysely";
import { getConstructionPlans, getRollbackPlans } from "pg-boss";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { openBossEngine } from "../../src/runs/engine/boss-engine.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { pollKeyOf } from "../../src/store/processes.ts";
import { openStore } from "../../src/store/store.ts";
import { ask, emptyDatabase } from "../kit/store/databases.ts";
import { waitFor } from "../kit/wait-for.ts";
import { silentLog as log } from "../kit/log.ts";

const SCHEMA = "gemini_search_jobs";

const openQueue = async (url: string) => {
  const queue = await openBossEngine({ url, key: pollKeyOf({ key: "k", baseUrl: "" }), makesPolls: true, log });
  onTestFinished(() => queue.close());
  return queue;
};

const openOnce = async (url: string): Promise<void> => {
  const store = await openStore({ file: undefined, shared: { url, connections: 2 }, clock: systemClock, log });
  await store.close();
};

test("processes that start at once update a schema once, and older programs then only read it (P5)", async () => {
  const url = await emptyDatabase();
  await openOnce(url);
  const up = (db: Kysely<unknown>) => db.schema.alterTable("research_tasks").addColumn("next", "text").execute();
  const migrations = { ...MIGRATIONS, "0002-next": { up } };
  const opened = await Promise.all([1, 2, 3, 4].map(() => openPostgres({ url, connections: 2, log, migrations })));
  for (const { obstacle, close } of opened) {
    expect(await obstacle()).toBeUndefined();
    await close();
  }
  const older = await openPostgres({ url, connections: 2, log });
  onTestFinished(() => older.close());
  expect(await older.obstacle()).toMatchObject({ message: expect.stringContaining("newer gemini-search-mcp") });
});

test("a database of another development build is refused, and nothing in it is changed (P5)", async () => {
  const url = await emptyDatabase();
  await openOnce(url);
  await ask(url, "update kysely_migration set name = '0001-runs'");
  await expect(openOnce(url)).rejects.toMatchObject({
    code: "SQLITE_ERROR",
    message: expect.stringContaining("was created by a development build"),
    suggestion: expect.stringContaining("empty database"),
  });
  expect(await ask(url, "select name from kysely_migration")).toEqual([{ name: "0001-runs" }]);
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
  // One step every ten seconds. Two are enough, whether the first has begun or not.
  await ask(
    url,
    `delete from ${SCHEMA}.bam where status = 'pending'
      and id not in (select id from ${SCHEMA}.bam where status = 'pending' limit 2)`,
  );
  await waitFor(
    async () => {
      const states = await ask<{ status: string; several: boolean }>(
        url,
        `select status, count(*) > 1 as several from ${SCHEMA}.bam group by status`,
      );
      expect(states).toEqual([{ status: "completed", several: true }]);
    },
    { timeout: 120_000, interval: 500 },
  );
});
