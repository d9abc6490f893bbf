/** What both engines promise: the table of runs on SQLite, pg-boss on PostgreSQL. */

import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLog as log } from "../../../test/kit/log.ts";
import { ask, onPostgres, sharedFor } from "../../../test/kit/store/databases.ts";
import { insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import { systemClock } from "../../platform/clock.ts";
import { thisProcess } from "../../platform/process-identity.ts";
import type { Database } from "../../store/database.ts";
import { hostHere } from "../../store/dialect.ts";
import { forgetProcess, registerProcess } from "../../store/processes.ts";
import { openStore } from "../../store/store.ts";
import { openBossEngine } from "./boss-engine.ts";
import type { Claim, Due, Engine, Lane, Worker } from "./engine.ts";
import { rankOf } from "./engine.ts";
import { createTableEngine } from "./table-engine.ts";

const KEY = "a-key";
const SOON = { timeout: 60_000, interval: 50 };
/** The table looks again after five seconds at the latest; idle workers of pg-boss after six. */
const QUIET_MS = 1_500;

const pause = (ms: number): Promise<void> => systemClock.sleep(ms);

interface Process {
  engine: Engine;
  /** Each claim that was delivered, in order. */
  delivered: { claim: Claim; lane: Lane }[];
  /** As after kill -9: another process can see that this one is gone. */
  die(): Promise<void>;
}

async function open() {
  const shared = await sharedFor(randomUUID(), 8);
  const { db, close } = await openStore({ file: undefined, shared, clock: systemClock, log });
  onTestFinished(close);

  const startEngine = async (key: string): Promise<{ engine: Engine; die: () => Promise<void> }> => {
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    if (shared !== undefined) {
      const engine = await openBossEngine({ url: shared.url, key, makesPolls: true, log });
      // As if the time that a poll may take had passed; pg-boss looks for such jobs every eight seconds.
      const expire = "update gemini_search_jobs.job set started_on = now() - interval '1 hour' where state = 'active'";
      return { engine, die: async () => void (await ask(shared.url, expire)) };
    }
    const processId = randomUUID();
    await registerProcess(db, { ...thisProcess(), processId, host: hostHere(db) }, Date.now());
    const engine = createTableEngine({ db, processId, clock: systemClock, log, leaving: leaving.signal });
    const die = async (): Promise<void> => {
      leaving.abort();
      await forgetProcess(db, processId);
    };
    return { engine, die };
  };

  /** A process that does not work until it is told to. */
  const process = async (key = KEY): Promise<Process & { work(worker?: Partial<Worker>): Promise<void> }> => {
    const { engine, die } = await startEngine(key);
    onTestFinished(() => engine.close().catch(() => undefined));
    const delivered: Process["delivered"] = [];
    const work = async (worker: Partial<Worker> = {}): Promise<void> => {
      await engine.work({
        key,
        batch: () => 4,
        onFault: async () => {},
        ...worker,
        handle: async (claims, lane) => {
          delivered.push(...claims.map((claim) => ({ claim, lane })));
          await (worker.handle ?? ((all: Claim[]) => settle(db, engine, all)))(claims, lane);
        },
      });
    };
    return { engine, delivered, die, work };
  };

  const planner = await process();
  /** Makes a run polled, and schedules its delivery in the same transaction. */
  const add = async (taskId: string, due: Partial<Due> = {}, from = db): Promise<void> => {
    const next = { taskId, key: KEY, ...due };
    const next_poll_at = Date.now() + (due.afterMs ?? 0);
    await insertRun(from, { task_id: taskId, next_poll_at, poll_key: next.key, poll_rank: rankOf(next) });
    await planner.engine.schedule(from, [next]);
  };
  return { db, url: shared?.url ?? "", process, add, planner };
}

/** Settles as the poller does: without a next delivery, the run is no longer polled. */
const settle = (db: Database, engine: Engine, claims: Claim[], next?: Omit<Due, "taskId" | "key">) =>
  db.transaction().execute(async (transaction) => {
    const following = (taskId: string) => next && { taskId, key: KEY, ...next };
    const settled = claims.map((claim) => ({ claim, next: following(claim.taskId) }));
    const released = await engine.settle(transaction, settled);
    if (next === undefined && released.size > 0)
      await transaction
        .updateTable("research_tasks")
        .set({ next_poll_at: null })
        .where("task_id", "in", [...released])
        .execute();
    return released;
  });

const idsOf = ({ delivered }: Process): string[] => delivered.map(({ claim }) => claim.taskId);

describe("an engine", () => {
  test("delivers each run to exactly one of several processes (P2, P7)", async () => {
    const { process, add } = await open();
    const ids = Array.from({ length: 24 }, (_, n) => `run ${n}`);
    await Promise.all(ids.map((id) => add(id)));
    const processes = await Promise.all([1, 2, 3].map(() => process()));
    for (const { work } of processes) await work();
    await waitFor(() => expect(processes.flatMap(idsOf)).toHaveLength(24), SOON);
    await pause(QUIET_MS);
    expect(processes.flatMap(idsOf).toSorted()).toEqual(ids.toSorted());
  });

  test("delivers a run if the transaction that schedules it commits, and keeps a delivery that is scheduled (P2)", async () => {
    const { db, process, add, planner } = await open();
    const rolledBack = db.transaction().execute(async (transaction) => {
      await add("rolled back", {}, transaction);
      throw new Error("something else went wrong");
    });
    await expect(rolledBack).rejects.toThrow("something else");
    await add("committed");
    await planner.engine.schedule(db, [{ taskId: "committed", key: KEY }]);
    const { work, ...worker } = await process();
    await work();
    await waitFor(() => expect(idsOf(worker)).toEqual(["committed"]), SOON);
    await pause(QUIET_MS);
    expect(idsOf(worker)).toEqual(["committed"]);
  });

  test("delivers again after the delay that was settled, and not before (P2)", async () => {
    const { db, process, add } = await open();
    await add("a");
    const times: number[] = [];
    const { work, engine } = await process();
    await work({
      handle: async (claims) => {
        times.push(Date.now());
        await settle(db, engine, claims, { afterMs: 2_000 });
      },
    });
    await waitFor(() => expect(times.length).toBeGreaterThanOrEqual(2), SOON);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_950);
  });

  test("delivers a claim again that was left out, or whose batch failed (P2)", async () => {
    const { db, process, add } = await open();
    for (const id of ["a", "b"]) await add(id);
    const { work, engine, ...worker } = await process();
    let batches = 0;
    await work({
      handle: async (claims) => {
        batches += 1;
        if (batches === 1) throw new Error("a bug");
        await settle(db, engine, batches === 2 ? claims.filter(({ taskId }) => taskId === "a") : claims);
      },
    });
    const last = async (): Promise<(number | null)[]> => [
      (await rowOf(db, "a")).next_poll_at,
      (await rowOf(db, "b")).next_poll_at,
    ];
    await waitFor(async () => expect(await last()).toEqual([null, null]), { ...SOON, timeout: 20_000 });
    expect(idsOf({ ...worker, engine }).filter((id) => id === "b").length).toBeGreaterThanOrEqual(2);
  });

  test("delivers the claims of a process that died to another one, and the dead one settles nothing (P2)", async () => {
    const { db, process, add } = await open();
    await add("a");
    const dead = await process();
    await dead.work({ handle: () => new Promise(() => {}) });
    await waitFor(() => expect(idsOf(dead)).toEqual(["a"]), SOON);
    // Keeps the second worker of a queue of pg-boss busy, too: only a process that has really died fetches nothing more.
    const held = onPostgres ? ["a", "b"] : ["a"];
    for (const id of held.slice(1)) await add(id);
    await waitFor(() => expect(idsOf(dead)).toEqual(held), SOON);
    await dead.die();
    const alive = await process();
    await alive.work({ handle: (claims) => settle(db, alive.engine, claims, { afterMs: 60_000 }).then(() => {}) });
    await waitFor(() => expect(idsOf(alive)).toContain("a"), { timeout: 25_000, interval: 100 });
    await pause(200);
    const before = await rowOf(db, "a");
    const [stale] = dead.delivered;
    expect([...(await settle(db, dead.engine, stale === undefined ? [] : [stale.claim]))]).toEqual([]);
    expect(await rowOf(db, "a")).toEqual(before);
  });

  test("delivers what has a higher rank first, and before all what was hastened (P7)", async () => {
    const { db, process, add, planner } = await open();
    for (const [id, rank] of Object.entries({ many: -13, few: -1, hastened: -9, some: -5 })) await add(id, { rank });
    expect(await planner.engine.hasten({ taskId: "hastened", key: KEY })).toBe(true);
    const { work, engine } = await process();
    const batches: string[][] = [];
    await work({
      batch: () => 2,
      handle: async (claims) => {
        batches.push(claims.map(({ taskId }) => taskId).toSorted());
        await settle(db, engine, claims);
      },
    });
    await waitFor(() => expect(batches).toHaveLength(2), SOON);
    expect(new Set(batches.map(String))).toEqual(new Set(["few,hastened", "many,some"]));
  });

  test("hastens what is not due yet, but nothing that is in flight or unknown (P2)", async () => {
    const { db, process, add, planner } = await open();
    await add("a", { afterMs: 600_000 });
    const { work, engine, ...worker } = await process();
    const finish = Promise.withResolvers<void>();
    await work({
      handle: async (claims) => {
        await finish.promise;
        await settle(db, engine, claims);
      },
    });
    expect(await planner.engine.hasten({ taskId: "a", key: KEY })).toBe(true);
    await waitFor(() => expect(idsOf({ ...worker, engine })).toEqual(["a"]), SOON);
    expect(await planner.engine.hasten({ taskId: "a", key: KEY })).toBe(false);
    expect(await planner.engine.hasten({ taskId: "unknown", key: KEY })).toBe(false);
    finish.resolve();
  });

  test("never lets the slow lane block the quick one (P7)", async () => {
    const { db, process, add } = await open();
    for (const n of [1, 2, 3, 4, 5]) await add(`slow ${n}`, { lane: "slow" });
    await add("quick");
    const { work, engine, ...worker } = await process();
    await work({
      handle: (claims, lane) => (lane === "slow" ? pause(60_000) : settle(db, engine, claims).then(() => {})),
    });
    await waitFor(() => expect(worker.delivered.some(({ lane }) => lane === "slow")).toBe(true), SOON);
    await add("later");
    await waitFor(() => expect(idsOf({ ...worker, engine })).toContain("later"), SOON);
    const lanes = worker.delivered.map(({ claim, lane }) => [claim.taskId.split(" ")[0], lane]);
    expect(new Set(lanes.map(String))).toEqual(new Set(["slow,slow", "quick,quick", "later,quick"]));
  });

  test("closes although a batch hangs (A8)", async () => {
    const { process, add } = await open();
    await add("a");
    const worker = await process();
    await worker.work({ handle: () => new Promise(() => {}) });
    await waitFor(() => expect(idsOf(worker)).toEqual(["a"]), SOON);
    await worker.engine.close();
  });
});

describe.each(onPostgres ? [] : ["the table of runs"])("%s", () => {
  test("is repaired when the clock was set back: leases and due times that are too far ahead do not count (P2)", async () => {
    const { db, process, add } = await open();
    await add("far");
    await add("leased");
    const ahead = Date.now() + 3_600_000;
    await db.updateTable("research_tasks").set({ next_poll_at: ahead }).where("task_id", "=", "far").execute();
    const lease = { lease_owner: "another", lease_until: ahead, next_poll_at: 1 };
    await db.updateTable("research_tasks").set(lease).where("task_id", "=", "leased").execute();
    await registerProcess(db, { ...thisProcess(), processId: "another", host: hostHere(db) }, Date.now());
    const { work, ...worker } = await process();
    await work();
    await waitFor(() => expect(idsOf(worker).toSorted()).toEqual(["far", "leased"]), SOON);
  });

  test("is delivered to any process, whatever the key: all have one user (P3)", async () => {
    const { process, add } = await open();
    await add("a", { key: "an earlier key" });
    const { work, ...worker } = await process();
    await work();
    await waitFor(() => expect(idsOf(worker)).toEqual(["a"]), SOON);
  });
});

describe.each(onPostgres ? ["pg-boss"] : [])("%s", () => {
  test("delivers a run to a process with its key, and to no other (P3)", async () => {
    const { process, add } = await open();
    await add("theirs", { key: "another" });
    await add("ours");
    const [ours, theirs] = [await process(), await process("another")];
    await ours.work();
    await waitFor(() => expect(idsOf(ours)).toEqual(["ours"]), SOON);
    await pause(QUIET_MS);
    expect(idsOf(ours)).toEqual(["ours"]);
    await theirs.work({ handle: async () => {} });
    await waitFor(() => expect(idsOf(theirs)).toContain("theirs"), SOON);
  });

  test("can be scheduled again when a delivery was lost (P2)", async () => {
    const { db, url, process, add, planner } = await open();
    await add("a");
    await ask(url, "delete from gemini_search_jobs.job");
    await planner.engine.schedule(db, [{ taskId: "a", key: KEY }]);
    const { work, ...worker } = await process();
    await work();
    await waitFor(() => expect(idsOf(worker)).toEqual(["a"]), SOON);
  });
});
