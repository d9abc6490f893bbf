/** Which answers `search` of the ChatGPT profile gives again instead of paying for another. */

import { expect, test } from "vitest";
import { openApp } from "../../test/kit/store/operation-deps.ts";
import { clock, openRunner } from "../../test/kit/store/runner.ts";
import { type Cost, NO_COST } from "../costs/actual.ts";
import { AppError } from "../errors.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { thisProcess } from "../platform/process-identity.ts";
import { saveResult } from "../runs/result-store.ts";
import { insertRunning } from "../runs/run-store.ts";
import { hostHere } from "../store/dialect.ts";
import { registerProcess } from "../store/processes.ts";
import type { Store } from "../store/store.ts";
import type { Call, OperationDeps } from "./operation.ts";
import { chatgptSearch } from "./chatgpt.ts";

const query = "How deep is the lake?";
const call: Call = {
  owner: "local",
  client: undefined,
  from: "network",
  signal: new AbortController().signal,
  progress: () => {},
};

/** Dependencies whose searches all fail, and are counted. */
function openSearches({ db, processId }: Store, time: Clock) {
  const { deps: none } = openApp();
  const counted = { searches: 0 };
  const costOf = (): Cost => NO_COST;
  const deps: OperationDeps = {
    ...none,
    clock: time,
    database: async () => db,
    recorder: async () => ({ db, processId, clock: time, log: none.log, leaving: () => false, costOf }),
    searchObstacle: async () => {
      counted.searches += 1;
      return new AppError({ code: "GEMINI_UNAVAILABLE", message: "No key is set." });
    },
  };
  return { deps, counted };
}

test("an answer to the same question with wishes is not given again to a call without them (Y4)", async (context) => {
  const { store } = await openRunner(context);
  const { db } = store;
  const { deps, counted } = openSearches(store, clock);
  const insert = async (taskId: string, options: Record<string, unknown>): Promise<void> => {
    const now = clock.now();
    const start = { owner: call.owner, client: undefined, processId: "p", kind: "search" as const, query };
    await insertRunning(db, { ...start, taskId, options, now });
    const end = { status: "completed", completed_at: now };
    await db.updateTable("research_tasks").set(end).where("task_id", "=", taskId).execute();
    const result = { report: "214 metres.", sources: [], metadata: {}, partial: false };
    await db.transaction().execute((transaction) => saveResult(transaction, { taskId, query, result, now }));
  };
  await insert("00000000-0000-4000-8000-000000000001", { wishes: { prefer_domains: ["example.com"] } });
  await chatgptSearch.run(deps, { query }, call).catch(() => undefined);
  expect(counted.searches).toBe(1);
  await insert("00000000-0000-4000-8000-000000000002", {});
  const { results } = await chatgptSearch.run(deps, { query }, call);
  expect(results?.[0]?.id).toBe("00000000-0000-4000-8000-000000000002");
  expect(counted.searches).toBe(1);
});

test("a question that another process is being asked is joined, and asked again only if that fails or its process died (Y4)", async (context) => {
  const { store } = await openRunner(context);
  const { db } = store;
  await registerProcess(db, { ...thisProcess(), processId: "other", host: hostHere(db) }, systemClock.now());
  const { deps, counted } = openSearches(store, systemClock);
  const begin = (taskId: string): Promise<unknown> =>
    insertRunning(db, { ...run, taskId, options: {}, now: systemClock.now() });
  const end = (taskId: string, status: "completed" | "failed"): Promise<unknown> =>
    db
      .updateTable("research_tasks")
      .set({ status, completed_at: systemClock.now() })
      .where("task_id", "=", taskId)
      .execute();
  const run = { owner: call.owner, client: undefined, processId: "other", kind: "search" as const, query };
  const [first, second] = ["00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"];
  await begin(first);
  const failing = chatgptSearch.run(deps, { query }, call).catch(() => undefined);
  await systemClock.sleep(150);
  expect(counted.searches).toBe(0);
  await end(first, "failed");
  await failing;
  expect(counted.searches).toBe(1);
  // A joined run that is deleted is no answer, and no error.
  const deleted = "00000000-0000-4000-8000-000000000006";
  await begin(deleted);
  const alone = chatgptSearch.run(deps, { query }, call).catch((error: unknown) => error);
  await systemClock.sleep(150);
  await db.deleteFrom("research_tasks").where("task_id", "=", deleted).execute();
  expect(await alone).toMatchObject({ code: "GEMINI_UNAVAILABLE" });
  expect(counted.searches).toBe(2);
  await begin(second);
  const joined = chatgptSearch.run(deps, { query }, call);
  await systemClock.sleep(150);
  const result = { report: "214 metres.", sources: [], metadata: {}, partial: false };
  await db.transaction().execute((transaction) => saveResult(transaction, { taskId: second, query, result, now: 1 }));
  await end(second, "completed");
  expect((await joined).results?.[0]?.id).toBe(second);
  expect(counted.searches).toBe(2);
  const dead = { ...run, processId: "gone", query: "How wide is the lake?" };
  await insertRunning(db, { ...dead, taskId: second.replace("4", "5"), options: {}, now: systemClock.now() });
  await chatgptSearch.run(deps, { query: dead.query }, call).catch(() => undefined);
  expect(counted.searches).toBe(3);
});
