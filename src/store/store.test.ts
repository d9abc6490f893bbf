import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sharedFor } from "../../test/kit/store/databases.ts";
import { systemClock } from "../platform/clock.ts";
import { thisProcess } from "../platform/process-identity.ts";
import { markInterruptedSearches, forgetStaleProcesses } from "../runs/recovery/dead-processes.ts";
import { currentOf } from "../runs/conversation-store.ts";
import { finishRun, insertRunning } from "../runs/run-store.ts";
import { findResult, findRounds, saveRound } from "../runs/result-store.ts";
import { hostHere } from "./dialect.ts";
import { cleanupOrphanedTempFiles, createInvalidOutputs, createSlotPool } from "./slots.ts";
import { registerProcess } from "./processes.ts";
import { openStore, type Store } from "./store.ts";
import { createTestLog } from "../../test/kit/log.ts";

let directory: string;
let store: Store;
let lines: string[];
const log = createTestLog((line) => lines.push(line));
const file = (): string => join(directory, "deep_research.db");
const open = async (): Promise<Store> =>
  openStore({ file: file(), shared: await sharedFor(file()), clock: systemClock, log });

beforeEach(async () => {
  lines = [];
  directory = mkdtempSync(join(tmpdir(), "gemini-search-store-"));
  store = await open();
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const newRun = (processId = store.processId) => ({
  taskId: randomUUID(),
  owner: "local",
  kind: "deep_search" as const,
  query: "a question with a NUL\0in it",
  options: {},
  client: "test",
  processId,
  now: Date.now(),
});

const finish = (taskId: string, processId = store.processId) => ({
  taskId,
  processId,
  to: "completed" as const,
  result: { report: "The report.", sources: [], metadata: { verified: true }, partial: false },
  error: undefined,
  backend: "api",
  model: "gemini-3.8-flash",
  tokens: { input: 1, output: 2 },
  cost: { usd: 0.01, incomplete: false, estimated: false },
  usageFinal: true,
  now: Date.now(),
});

describe("runs", () => {
  test("are not changed by a late finish or one of another process", async () => {
    const run = newRun();
    await insertRunning(store.db, run);
    expect(await finishRun(store.db, finish(run.taskId, "somebody else"))).toBe(false);
    expect(await findResult(store.db, run.taskId)).toBeUndefined();
    expect(await finishRun(store.db, finish(run.taskId))).toBe(true);
    expect(await finishRun(store.db, { ...finish(run.taskId), to: "failed", result: undefined })).toBe(false);
    expect(await currentOf(store.db, "local", run.taskId)).toMatchObject({ status: "completed", progress: 100 });
  });

  test("are stored whole if their text contains NUL", async () => {
    const run = newRun();
    await insertRunning(store.db, run);
    expect((await currentOf(store.db, "local", run.taskId)).query).toBe("a question with a NULin it");
  });

  test("of another owner do not exist (T14)", async () => {
    const run = newRun();
    await insertRunning(store.db, run);
    await expect(currentOf(store.db, "somebody", run.taskId)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });

  test("of a dead process become failed (INTERRUPTED) with their rounds; those of a live one continue (P2)", async () => {
    const dead = newRun("a-process-that-left");
    const alive = newRun();
    await insertRunning(store.db, dead);
    await insertRunning(store.db, alive);
    const round = {
      roundNumber: 1,
      report: "Round one.",
      verified: false,
      summary: "",
      sources: [],
      queries: [],
      metadata: {},
    };
    await saveRound(store.db, dead.taskId, { ...round, now: Date.now() });
    expect(await markInterruptedSearches(store.db, log, Date.now())).toBe(1);
    expect(await currentOf(store.db, "local", dead.taskId)).toMatchObject({
      status: "failed",
      error: { code: "INTERRUPTED" },
    });
    expect(await currentOf(store.db, "local", alive.taskId)).toMatchObject({ status: "running" });
    expect(await findRounds(store.db, dead.taskId)).toHaveLength(1);
  });

  test("of a process wrongly taken for dead still get the answer that was paid for", async () => {
    const run = newRun("slept-too-long");
    await insertRunning(store.db, run);
    await markInterruptedSearches(store.db, log, Date.now());
    expect(await finishRun(store.db, finish(run.taskId, "slept-too-long"))).toBe(true);
    expect((await currentOf(store.db, "local", run.taskId)).status).toBe("completed");
  });
});

describe("slots (C9)", () => {
  const pool = (processId: string, clock = systemClock) =>
    createSlotPool({
      db: store.db,
      clock,
      log,
      processId,
      pool: "test",
      size: 2,
      withoutStore: "Not limited",
    });
  const { signal } = new AbortController();

  test("are never held beyond the size of the pool, and a released one goes to a waiting call", async () => {
    const slots = pool(store.processId);
    let held = 0;
    let most = 0;
    let waits = 0;
    const work = async (): Promise<void> => {
      const release = await slots.take({ signal, onWait: () => (waits += 1) });
      held += 1;
      most = Math.max(most, held);
      await systemClock.sleep(20);
      held -= 1;
      await release();
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(most).toBe(2);
    expect(waits).toBeGreaterThan(0);
  });

  /** No process has this id. */
  const killed = { ...thisProcess(), processId: "killed", pid: 2 ** 30 };
  const registerKilled = () => registerProcess(store.db, { ...killed, host: hostHere(store.db) }, Date.now());

  test.each(["are released at once", "are deleted with its row"])("of a dead process %s", async (how) => {
    await registerKilled();
    const dead = pool(killed.processId);
    await dead.take({ signal, onWait: () => {} });
    await dead.take({ signal, onWait: () => {} });
    if (how === "are deleted with its row") await forgetStaleProcesses(store.db, Date.now());
    let waited = false;
    await pool(store.processId).take({ signal, onWait: () => (waited = true) });
    expect(waited).toBe(false);
  });

  test("of a process that has lost its row stay taken until their lease expires", async () => {
    const other = pool("without-a-row");
    await other.take({ signal, onWait: () => {} });
    await other.take({ signal, onWait: () => {} });
    const waiting = { signal: AbortSignal.timeout(300), onWait: () => {} };
    await expect(pool(store.processId).take(waiting)).rejects.toThrow();
  });

  test("that a living process could not release are free when their lease has expired, and no sooner", async () => {
    const slots = pool(store.processId);
    const release = await slots.take({ signal, onWait: () => {} });
    await slots.take({ signal, onWait: () => {} });
    // Its row is restored hourly.
    await store.db.deleteFrom("processes").execute();
    const waiting = { signal: AbortSignal.timeout(300), onWait: () => {} };
    await expect(slots.take(waiting)).rejects.toThrow();
    await store.db.updateTable("leases").set({ lease_until: 1 }).execute();
    await slots.take({ signal, onWait: () => {} });
    await release();
  });

  test("can be waited for with a signal that ends the wait", async () => {
    const slots = pool(store.processId);
    await slots.take({ signal, onWait: () => {} });
    await slots.take({ signal, onWait: () => {} });
    const controller = new AbortController();
    const waiting = slots.take({ signal: controller.signal, onWait: () => controller.abort() });
    await expect(waiting).rejects.toThrow();
  });
});

describe("files for corrections", () => {
  const options = () => ({ directory, db: store.db, processId: store.processId, clock: systemClock, log });

  test("are exclusive, private, renumbered on collision, and deleted afterwards (E2, E3)", async () => {
    const clock = { ...systemClock, now: () => 1_700_000_000_000 };
    const outputs = createInvalidOutputs({ ...options(), clock });
    const [first, second] = [await outputs.keep("one"), await outputs.keep("two")];
    expect(first.path).toBe(join(directory, "temp-invalid-output-1700000000000.txt"));
    expect(second.path).toBe(join(directory, "temp-invalid-output-1700000000001.txt"));
    expect(statSync(first.path).mode & 0o777).toBe(0o600);
    await first.remove();
    await second.remove();
    expect(readdirSync(directory).filter((name) => name.startsWith("temp-"))).toEqual([]);
  });

  test("without a live process are deleted, whatever their name and age, and the count is logged (E4)", async () => {
    const inUse = await createInvalidOutputs(options()).keep("in use");
    const abandoned = await createInvalidOutputs({ ...options(), processId: "a-process-that-left" }).keep("abandoned");
    writeFileSync(join(directory, "temp-invalid-output-5.txt"), "never recorded");
    writeFileSync(join(directory, "temp-invalid-output-of-another-name.txt"), "never recorded either");
    writeFileSync(join(directory, "temp-notes.txt"), "not ours");
    await cleanupOrphanedTempFiles(options());
    const left = readdirSync(directory).filter((name) => name.startsWith("temp-"));
    expect(new Set(left)).toEqual(new Set([basename(inUse.path), "temp-notes.txt"]));
    expect(left).not.toContain(basename(abandoned.path));
    expect(lines.join("")).toContain("[INFO] Cleaned up 3 orphaned temporary files.");
    await inUse.remove();
    await cleanupOrphanedTempFiles(options());
    expect(lines.join("")).toContain("[INFO] Cleaned up 0 orphaned temporary files.");
  });
});
