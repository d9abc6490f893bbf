import { costCalculator } from "../../costs/actual.ts";
import type { Budgets } from "../../costs/budget.ts";
import { LIST_PRICES } from "../../costs/prices.ts";
/** A tracked run on a real database: its progress, its stored state, and rejected writes. */

import { expect, onTestFinished, test } from "vitest";
import { sharedFor } from "../../../test/kit/store/databases.ts";
import { AppError } from "../../errors.ts";
import type { Answer } from "../../gemini/search-backend.ts";
import { systemClock } from "../../platform/clock.ts";
import { openStore } from "../../store/store.ts";
import { readStored } from "../history/read.ts";
import { currentOf } from "../conversation-store.ts";
import { type Finished, type TrackedRun, trackRun } from "./local-run.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import { createTestLog } from "../../../test/kit/log.ts";

const START = { kind: "search", query: "a question", options: {}, owner: "local", client: undefined } as const;
const DONE: Finished = {
  result: { report: "the answer", sources: [], metadata: {}, partial: false },
  model: "m",
};

const ANSWER: Answer = {
  text: "the answer",
  model: "gemini-2.5-flash",
  backend: "api",
  usage: { input: 1_000, output: 2_000, cached: 0, searches: 1 },
  cut: false,
  sources: [],
  unreadUrls: [],
  openedUrls: [],
  queries: [],
  isGrounded: true,
  searchSuggestions: [],
  notices: [],
};

async function openRecorder(budgets: Budgets = {}, { behindMs = 0 } = {}) {
  const lines: string[] = [];
  const log = createTestLog((line) => lines.push(line));
  const { db, processId, close } = await openStore({
    file: undefined,
    shared: await sharedFor(undefined, 1),
    clock: systemClock,
    log,
  });
  onTestFinished(() => close());
  const leaving = new AbortController();
  const writes = { areRefused: false };
  const refusing = db.withPlugin({
    transformQuery: ({ node }) => {
      if (!writes.areRefused || node.kind === "SelectQueryNode") return node;
      throw new AppError({ code: "SQLITE_ERROR", message: "The database is locked." });
    },
    transformResult: async ({ result }) => result,
  });
  const clock = {
    ...systemClock,
    now: () => systemClock.now() - behindMs,
    sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(10, signal),
  };
  const backups: { query: string; report: string }[] = [];
  const messages: string[] = [];
  const tasks: string[] = [];
  const track = (work: (run: TrackedRun) => Promise<Finished>) =>
    trackRun(
      {
        db: refusing,
        processId,
        clock,
        log,
        leaving: leaving.signal,
        costOf: costCalculator(LIST_PRICES),
        keyFingerprint: undefined,
        budgets,
        during: (work) => work,
        backUp: async (run, report) => {
          backups.push({ ...run, report });
          return "backup.md";
        },
      },
      START,
      {
        progress: (message) => messages.push(message),
        onStored: (taskId) => tasks.push(taskId),
        work,
      },
    );
  return { db, lines, messages, tasks, track, writes, leaving, backups };
}

test("a search term that the model chose is cleaned before it is sent or stored (T17)", async () => {
  const { db, messages, track } = await openRecorder();
  let stored: string | undefined;
  await track(async (run) => {
    run.activity("Searching: \u001B]52;c;cm0gLXJm\u0007heat \u202Epumps");
    stored = await waitFor(
      async () => {
        const { currentAction } = await currentOf(db, "local", run.taskId);
        expect(currentAction).toContain("Searching");
        return currentAction;
      },
      { timeout: 10_000, interval: 10 },
    );
    return DONE;
  });
  expect(stored).toBe("Searching: heat pumps");
  expect(messages.at(-1)).toBe("Searching: heat pumps");
});

test("a store that refuses a result costs a warning, never the answer (G8)", async () => {
  const { db, lines, track } = await openRecorder();
  const answer = await track(async () => {
    await db.destroy();
    return DONE;
  });
  expect(answer).toMatchObject({ run: { status: "completed", query: "a question" }, result: DONE.result });
  expect(lines).toEqual([expect.stringMatching(/^\[WARN\] The result could not be stored: /)]);
});

test("of many searches at once only those within a hard budget send their request, and a settled one makes room (T28)", async () => {
  const { db, track } = await openRecorder({ BUDGET_DAY_USD: { soft: 1, hard: 1 } });
  const call = { purpose: "research", prompt: "a question", model: undefined } as const;
  const refusals: unknown[] = [];
  let sent = 0;
  const gate = Promise.withResolvers<undefined>();
  const search = async (run: TrackedRun): Promise<Finished> => {
    const settle = await run.asks(call).catch((error: unknown) => void refusals.push(error));
    if (settle !== undefined) sent += 1;
    if (sent + refusals.length === 12) gate.resolve(undefined);
    await gate.promise;
    settle?.(ANSWER);
    return DONE;
  };
  await Promise.all(Array.from({ length: 12 }, () => track(search)));
  // Each reserves $0.26.
  expect([sent, refusals.length]).toEqual([3, 9]);
  expect(refusals[0]).toMatchObject({ code: "BUDGET_EXCEEDED", details: { budget: "BUDGET_DAY_USD", limit_usd: 1 } });
  const states = await db.selectFrom("ledger").select("state").orderBy("state").execute();
  expect(states.map(({ state }) => state)).toEqual([...Array(9).fill("released"), ...Array(3).fill("settled")]);
  await track(async (run) => {
    (await run.asks(call))(ANSWER);
    return DONE;
  });
});

test("requests count on the day of the database, by which the limit is checked, whatever this machine's clock says (T28)", async () => {
  const { track } = await openRecorder({ BUDGET_DAY_USD: { soft: 0.6, hard: 0.6 } }, { behindMs: 86_400_000 });
  await track(async (run) => {
    const call = { purpose: "research", prompt: "a question", model: undefined } as const;
    for (let sent = 0; sent < 2; sent += 1) await run.asks(call);
    await expect(run.asks(call)).rejects.toMatchObject({ code: "BUDGET_EXCEEDED" });
    return DONE;
  });
});

test("the requests of one run stay within the hard limit of a run (T28)", async () => {
  const { track } = await openRecorder({ run: { soft: 0.1, hard: 0.6 } });
  await track(async (run) => {
    const call = { purpose: "research", prompt: "a question", model: undefined } as const;
    const settle = await run.asks(call);
    await run.asks(call);
    await expect(run.asks(call)).rejects.toMatchObject({ code: "BUDGET_EXCEEDED" });
    // It costs less than was reserved for it.
    settle(ANSWER);
    await run.asks(call);
    return DONE;
  });
});

test("a request that cannot be checked against a hard limit is not sent, and without one it is (T28, P5)", async () => {
  const call = { purpose: "research", prompt: "a question", model: undefined } as const;
  const limited = await openRecorder({ BUDGET_DAY_USD: { soft: 1, hard: 1 } });
  await limited.track(async (run) => {
    limited.writes.areRefused = true;
    await expect(run.asks(call)).rejects.toMatchObject({ code: "SQLITE_ERROR" });
    limited.writes.areRefused = false;
    return DONE;
  });
  const rows = await limited.db.selectFrom("ledger").select(["state", "micros"]).execute();
  expect(rows).toEqual([{ state: "released", micros: 0 }]);
  const unlimited = await openRecorder({ BUDGET_DAY_USD: { soft: 1 } });
  await unlimited.track(async (run) => {
    unlimited.writes.areRefused = true;
    (await run.asks(call))(ANSWER);
    unlimited.writes.areRefused = false;
    return DONE;
  });
  const entry = await unlimited.db.selectFrom("ledger").select("state").executeTakeFirstOrThrow();
  expect(entry.state).toBe("settled");
});

test("a finished search returns what is read back later (G8, P5)", async () => {
  const { db, track } = await openRecorder();
  const sources = [{ n: 1, title: "A", url: "https://a.example/", domain: "a.example" }];
  const supports = [{ text: "the answer", urls: ["https://a.example/"] }];
  const metadata = { note: "Short.", search_queries_used: ["a"], verified: true };
  const result = { ...DONE.result, sources, supports, metadata, searchSuggestions: ["<p>a</p>"] };
  const returned = await track(async (run) => {
    const settle = await run.asks({ purpose: "research", prompt: "a question", model: undefined });
    settle(ANSWER);
    return { result: { ...result, hasWarning: true }, model: "gemini-2.5-flash" };
  });
  const { run, result: stored } = await readStored(db, "local", returned.run.taskId);
  expect(run).toEqual(returned.run);
  expect(run).toMatchObject({ tokens: { input: 1_000, output: 2_000 }, cost: { usd: expect.any(Number) } });
  // The database adds the figures of the run to what is stored beside the report.
  const { duration_ms: _ms, tokens_used: _tokens, cost_usd: _usd, ...facts } = stored?.metadata ?? {};
  const { hasWarning: _warning, ...written } = returned.result;
  expect({ ...stored, metadata: facts }).toEqual({ ...written, citations: [], pictures: [] });
});

test("an error names its run, and the run stores its error (A6)", async () => {
  const { db, track } = await openRecorder();
  const failing = track(() => Promise.reject(new AppError({ code: "SEARCH_FAILED", message: "Nothing." })));
  const error: unknown = await failing.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "SEARCH_FAILED", run: { status: "failed" } });
  const taskId = error instanceof AppError ? (error.run?.task_id ?? "") : "";
  expect(await currentOf(db, "local", taskId)).toMatchObject({
    status: "failed",
    error: { code: "SEARCH_FAILED", message: "Nothing." },
  });
});

test("a call becomes a task when its run is stored, and none if it could not be stored (U1)", async () => {
  const { db, tasks, track } = await openRecorder();
  let stored: string | undefined;
  await track(async (run) => {
    stored = run.taskId;
    expect(tasks).toEqual([run.taskId]);
    return DONE;
  });
  await db.destroy();
  expect(await track(async () => DONE)).toMatchObject({ result: DONE.result });
  expect(tasks).toEqual([stored]);
});

test("the end of a run that the database refuses is stored as soon as it can be (P5, G8)", async () => {
  const { db, lines, track, writes } = await openRecorder();
  const { run } = await track(async () => {
    writes.areRefused = true;
    return DONE;
  });
  expect(lines).toEqual([expect.stringMatching(/^\[WARN\] The result could not be stored: /)]);
  expect(await currentOf(db, "local", run.taskId)).toMatchObject({ status: "running" });
  writes.areRefused = false;
  await waitFor(async () => {
    const stored = await readStored(db, "local", run.taskId);
    expect(stored).toMatchObject({ run: { status: "completed" }, result: { report: "the answer" } });
  });
});

test("a report that the database refuses until the process ends is kept in a file (P5)", async () => {
  const { lines, track, writes, leaving, backups } = await openRecorder();
  const { run } = await track(async () => {
    writes.areRefused = true;
    return DONE;
  });
  leaving.abort();
  await waitFor(async () =>
    expect(backups).toEqual([{ taskId: run.taskId, query: "a question", report: "the answer" }]),
  );
  await waitFor(async () => expect(lines.at(-1)).toContain("It is kept in backup.md."));
});

test("each model call is in the ledger before it is sent, and after it settled, released or left reserved (P6)", async () => {
  const { db, track } = await openRecorder();
  const call = { purpose: "research", prompt: "a question", model: "gemini-2.5-flash" } as const;
  const rows = () =>
    db
      .selectFrom("ledger")
      .select(["kind", "state", "model", "micros", "reserved_micros"])
      .orderBy("created_at")
      .execute();
  const reserved = {
    kind: "search",
    state: "reserved",
    model: "gemini-2.5-flash",
    micros: 99_001,
    reserved_micros: 99_001,
  };
  await track(async (run) => {
    const lost = await run.asks(call);
    expect(await rows()).toEqual([reserved]);
    lost(new AppError({ code: "EXECUTION_ERROR", message: "It took too long.", reason: "timeout" }));
    const refused = await run.asks(call);
    refused(new AppError({ code: "GEMINI_UNAVAILABLE", message: "The key is not valid.", reason: "auth" }));
    const corrected = await run.asks({ ...call, purpose: "correction", prompt: "x".repeat(4_000) });
    corrected({ ...ANSWER, usage: { input: 1_000, output: 500, cached: 0, searches: 0 } });
    return DONE;
  });
  expect((await rows()).toSorted((a, b) => a.state.localeCompare(b.state))).toEqual([
    { ...reserved, state: "released", micros: 0 },
    reserved,
    { kind: "correction", state: "settled", model: "gemini-2.5-flash", micros: 1_550, reserved_micros: 5_300 },
  ]);
});
