/**
 * A network that drops requests to the database or responses from it: paid runs are kept, uncharged ones stay
 * uncharged.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, expect, test, type TestContext, vi } from "vitest";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../kit/services/database-proxy.ts";
import { sharedFor } from "../kit/store/databases.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";
import { silentLog as log } from "../kit/log.ts";

afterEach(() => {
  vi.useRealTimers();
});

interface LossyScene extends ResearchScene {
  proxy: DatabaseProxy;
  lossy: RunningServer;
  orphans: string;
}

async function openLossy(context: TestContext): Promise<LossyScene> {
  const scene = await openResearch(context, SLOW);
  const proxy = await startDatabaseProxy(context, scene.env["GEMINI_SEARCH_DATABASE_URL"] ?? "");
  const lossy = await scene.server({ env: { GEMINI_SEARCH_DATABASE_URL: proxy.url } });
  return { ...scene, proxy, lossy, orphans: join(scene.configDir, "orphans.jsonl") };
}

/** Google accepts the start, but the id never reaches the database and no error is returned. */
async function startIntoSilence({ proxy, lossy }: LossyScene): Promise<void> {
  const silent = proxy.silenceAt('update "research_attempts" set "interaction_id"');
  void lossy.call("start_deep_research", { query: QUERY }).catch(() => undefined);
  await silent;
}

const isGone = (pid: number): Promise<unknown> => waitFor(() => expect(() => process.kill(pid, 0)).toThrow());

async function expectTakenUp(scene: LossyScene): Promise<void> {
  const [run] = scene.sql<{ task_id: string; status: string }>("select task_id, status from research_tasks");
  expect(run?.status).toBe("pending");
  expect(readFileSync(scene.orphans, "utf8")).toMatch(/"interaction_id":"\w+/);
  const next = await scene.server();
  await untilStatus(next, run?.task_id ?? "", "running_async");
  await waitFor(() => expect(existsSync(scene.orphans)).toBe(false));
  expect(scene.accepted()).toBe(1);
}

test("a process that is stopped while the database does not answer leaves the paid id, and the next imports it (P5, I8)", async (context) => {
  const scene = await openLossy(context);
  await startIntoSilence(scene);
  process.kill(scene.lossy.pid, "SIGTERM");
  await isGone(scene.lossy.pid);
  await expectTakenUp(scene);
});

test("a paid id that the database does not acknowledge is written to a file without waiting (P5, I8)", async (context) => {
  const scene = await openLossy(context);
  await startIntoSilence(scene);
  await waitFor(() => expect(existsSync(scene.orphans)).toBe(true));
  process.kill(scene.lossy.pid, "SIGKILL");
  await isGone(scene.lossy.pid);
  await expectTakenUp(scene);
});

test("a connection that does not answer is closed with its pending statements, and not used again (P5)", async (context) => {
  const proxy = await startDatabaseProxy(context, (await sharedFor())?.url ?? "");
  const { db, close } = await openPostgres({ url: proxy.url, connections: 1, log });
  context.onTestFinished(close);
  await sql`select 1`.execute(db);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const silent = proxy.silenceAt("select 2");
  const asked = db
    .transaction()
    .execute((transaction) => sql`select 2`.execute(transaction))
    .catch((error: unknown) => error);
  await silent;
  await vi.advanceTimersByTimeAsync(35_000);
  expect(await asked).toMatchObject({ message: "The PostgreSQL database cannot be reached.", retryable: true });
  vi.useRealTimers();
  proxy.passAgain();
  expect((await sql`select 3 as n`.execute(db)).rows).toEqual([{ n: 3 }]);
});

test("an intent whose commit was not acknowledged is not sent and fails as uncharged; a retry is one paid start (I8, P5)", async (context) => {
  const scene = await openLossy(context);
  const cut = scene.proxy.cutAfter('insert into "research_attempts"', "commit");
  const refused = await scene.lossy.call("start_deep_research", { query: QUERY });
  await cut;
  expect(refused.structured).toMatchObject({ success: false, error: { code: "SQLITE_ERROR" } });
  const again = await scene.lossy.call("start_deep_research", { query: QUERY });
  expect(again.structured).toMatchObject({ success: true, status: "running_async" });
  const runs = scene.sql<{ task_id: string; status: string }>("select task_id, status from research_tasks");
  expect(runs).toHaveLength(2);
  const lost = runs.find(({ task_id }) => task_id !== again.structured["task_id"]);
  expect(lost?.status).toBe("failed");
  expect([scene.posts(), scene.accepted()]).toEqual([1, 1]);
});
