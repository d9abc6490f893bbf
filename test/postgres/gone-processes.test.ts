/** Killed containers on other machines: their runs are ended, and their rows deleted later. */

import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { thisProcess } from "../../src/platform/process-identity.ts";
import { forgetStaleProcesses } from "../../src/runs/recovery/dead-processes.ts";
import { createRunner } from "../../src/runs/scheduling/runner.ts";
import type { Database } from "../../src/store/database.ts";
import { recordHeartbeat, registerProcess } from "../../src/store/processes.ts";
import { setClock } from "../kit/store/databases.ts";
import { openRunner } from "../kit/store/runner.ts";
import { insertRun, openDatabase, rowOf } from "../kit/store/store-rows.ts";
import { waitFor } from "../kit/wait-for.ts";

const NOW = 1_800_000_000_000;
const WEEK_MS = 7 * 24 * 3_600_000;

const registered = async (db: Database, processId: string): Promise<void> =>
  registerProcess(db, { ...thisProcess(), processId, host: "elsewhere" }, NOW);

test("a search of a killed container is interrupted by the other processes, without a restart (P2)", async (context) => {
  const { store, deps } = await openRunner(context);
  const gone = randomUUID();
  await registered(store.db, gone);
  const search = { kind: "deep_search", status: "running", interaction_id: null, lease_owner: gone };
  await insertRun(store.db, { task_id: "left", ...search, lease_until: Date.now() - 1 });
  await insertRun(store.db, { task_id: "going on", ...search, lease_until: Date.now() + 60_000 });
  createRunner({ deps: deps(), pollIntervalMs: 1_000, maxRps: 5, deliver: async () => 0 }).start();
  await waitFor(async () =>
    expect(await rowOf(store.db, "left")).toMatchObject({ status: "failed", error_code: "INTERRUPTED" }),
  );
  expect(await rowOf(store.db, "going on")).toMatchObject({ status: "running" });
});

test("a process that was silent for a week is deleted, unless it still owns a run (P2)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const names = ["silent", "polls", "searches", "ended", "follows", "updates"];
  for (const name of names) await registered(db, name);
  await insertRun(db, { task_id: "a", lease_owner: "polls", lease_until: 1, next_poll_at: 1 });
  await insertRun(db, { task_id: "b", lease_owner: "searches", status: "running", kind: "deep_search" });
  await insertRun(db, { task_id: "d", lease_owner: "ended", lease_until: 1, status: "completed" });
  const slot = { pool: "p", process_id: "silent" };
  const leases = [NOW, NOW - 24 * 3_600_000 - 1].map((until) => ({
    ...slot,
    lease_id: String(until),
    lease_until: until,
  }));
  await db.insertInto("leases").values(leases).execute();
  const left = async (): Promise<string[]> => {
    await forgetStaleProcesses(db, NOW);
    const rows = await db.selectFrom("processes").select("process_id").where("host", "=", "elsewhere").execute();
    return rows.map(({ process_id }) => process_id).toSorted();
  };
  await setClock(db, NOW + WEEK_MS);
  expect(await left()).toEqual(names.toSorted());
  expect(await db.selectFrom("leases").select("lease_until").execute()).toEqual([{ lease_until: NOW }]);
  await setClock(db, NOW + WEEK_MS + 1);
  await recordHeartbeat(db, "follows", { key: "k", now: NOW });
  await registered(db, "updates");
  expect(await left()).toEqual(names.filter((name) => name !== "silent" && name !== "ended").toSorted());
});

test("a running process updates its row every hour, whether it polls runs or not (P2)", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const db = await openDatabase({ stoppedAt: NOW });
  const seen = () => db.selectFrom("processes").select("seen_at").execute();
  expect(await seen()).toEqual([{ seen_at: NOW }]);
  await setClock(db, NOW + 3_600_000);
  vi.advanceTimersByTime(3_600_000);
  await waitFor(async () => expect(await seen()).toEqual([{ seen_at: NOW + 3_600_000 }]));
  await db.deleteFrom("processes").execute();
  vi.advanceTimersByTime(3_600_000);
  await waitFor(async () => expect(await seen()).toHaveLength(1));
});
