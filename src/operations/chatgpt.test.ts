/** Which answers `search` of the ChatGPT profile gives again instead of paying for another. */

import { expect, test } from "vitest";
import { openApp } from "../../test/kit/store/operation-deps.ts";
import { clock, openRunner } from "../../test/kit/store/runner.ts";
import { type Cost, NO_COST } from "../costs/actual.ts";
import { AppError } from "../errors.ts";
import type { Answer } from "../gemini/search-backend.ts";
import { saveResult } from "../runs/result-store.ts";
import { insertRunning } from "../runs/run-store.ts";
import type { Store } from "../store/store.ts";
import type { Call, OperationDeps } from "./operation.ts";
import { chatgptFetch, chatgptSearch } from "./chatgpt.ts";

const query = "How deep is the lake?";
const call: Call = {
  owner: "local",
  client: undefined,
  from: "network",
  signal: new AbortController().signal,
  progress: () => {},
};

/** Dependencies whose searches all fail, and are counted. */
function openSearches({ db, processId }: Pick<Store, "db" | "processId">) {
  const { deps: none } = openApp();
  const counted = { searches: 0 };
  const costOf = (): Cost => NO_COST;
  const deps: OperationDeps = {
    ...none,
    clock,
    database: async () => db,
    recorder: async () => ({
      db,
      processId,
      clock,
      log: none.log,
      leaving: new AbortController().signal,
      costOf,
      keyFingerprint: undefined,
      budgets: {},
      during: (work) => work,
      backUp: async () => undefined,
      obstacle: async () => undefined,
    }),
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

test("an answer that the database refuses is found, and fetched, all the same (A4, Y4)", async (context) => {
  const { store } = await openRunner(context);
  const refusing = store.db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind !== "InsertQueryNode") return node;
      throw new AppError({ code: "DISK_FULL", message: "The disk is full." });
    },
    transformResult: async ({ result }) => result,
  });
  const { deps: failing } = openSearches({ ...store, db: refusing });
  let asked = 0;
  const answer = { success: true, report: "214 metres.", metadata: { sources_visited: ["https://lake.example/"] } };
  const ask = async (): Promise<Answer> => {
    asked += 1;
    return { ...ANSWER, text: JSON.stringify(answer) };
  };
  const deps: OperationDeps = {
    ...failing,
    searchObstacle: async () => undefined,
    search: async (log) => ({
      backend: { name: "api", obstacle: () => undefined, ask },
      prompts: { render: () => "a prompt", hasPlaceFor: () => true },
      invalidOutputs: { keep: async () => ({ path: "/nowhere", remove: async () => {} }) },
      clock,
      log,
      model: undefined,
      correctionModel: undefined,
      maxCycles: 1,
    }),
  };
  for (const _ of ["first", "again"]) {
    const { results } = await chatgptSearch.run(deps, { query }, call);
    expect(results.map(({ url }) => url)).toContain("https://lake.example/");
    const fetched = await chatgptFetch.run(deps, { id: results[0]?.id ?? "" }, call);
    expect(fetched.text).toContain("214 metres.");
    await expect(chatgptFetch.run(deps, { id: results[0]?.id ?? "" }, { ...call, owner: "bob" })).rejects.toThrow(
      "There is no",
    );
  }
  expect(asked).toBe(1);
});

const ANSWER: Omit<Answer, "text"> = {
  model: "m",
  backend: "api",
  usage: { input: 1, output: 1, cached: 0, searches: 0 },
  cut: false,
  sources: [],
  unreadUrls: [],
  openedUrls: [],
  queries: [],
  isGrounded: true,
  searchSuggestions: [],
  notices: [],
};
