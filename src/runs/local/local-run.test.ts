import { costCalculator } from "../../costs/actual.ts";
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

async function openRecorder() {
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
      if (!writes.areRefused || node.kind !== "UpdateQueryNode") return node;
      throw new AppError({ code: "SQLITE_ERROR", message: "The database is locked." });
    },
    transformResult: async ({ result }) => result,
  });
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(10, signal) };
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
