/** Which answers `search` of the ChatGPT profile gives again instead of paying for another. */

import { expect, test } from "vitest";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import { clock, openRunner } from "../../../test/kit/store/runner.ts";
import { AppError } from "../../errors.ts";
import { saveResult } from "../../runs/result-store.ts";
import { insertRunning } from "../../runs/run-store.ts";
import type { Call, OperationDeps } from "../operation.ts";
import { chatgptSearch } from "./chatgpt-search.ts";

const query = "How deep is the lake?";
const call: Call = {
  owner: "local",
  client: undefined,
  from: "network",
  signal: new AbortController().signal,
  progress: () => {},
};

test("an answer to the same question with wishes is not given again to a call without them (Y4)", async (context) => {
  const { db } = (await openRunner(context)).store;
  let searches = 0;
  const deps: OperationDeps = {
    ...openApp().deps,
    clock,
    database: async () => db,
    searchObstacle: async () => {
      searches += 1;
      return new AppError({ code: "GEMINI_UNAVAILABLE", message: "No key is set." });
    },
  };
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
  expect(searches).toBe(1);
  await insert("00000000-0000-4000-8000-000000000002", {});
  const { results } = await chatgptSearch.run(deps, { query }, call);
  expect(results?.[0]?.id).toBe("00000000-0000-4000-8000-000000000002");
  expect(searches).toBe(1);
});
