/** Which answers `search` of the ChatGPT profile gives again instead of paying for another. */

import { expect, test } from "vitest";
import { openApp } from "../../test/kit/store/operation-deps.ts";
import { clock, openRunner } from "../../test/kit/store/runner.ts";
import { type Cost, NO_COST } from "../costs/actual.ts";
import { AppError } from "../errors.ts";
import { saveResult } from "../runs/result-store.ts";
import { insertRunning } from "../runs/run-store.ts";
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
function openSearches({ db, processId }: Store) {
  const { deps: none } = openApp();
  const counted = { searches: 0 };
  const costOf = (): Cost => NO_COST;
  const deps: OperationDeps = {
    ...none,
    clock,
    database: async () => db,
    recorder: async () => ({ db, processId, clock, log: none.log, leaving: () => false, costOf }),
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
  const { deps, counted } = openSearches(store);
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
