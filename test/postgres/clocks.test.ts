/** Machines whose clocks differ, on one database: its clock is the one they go by. */

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { NO_COST } from "../../src/costs/actual.ts";
import { thisProcess } from "../../src/platform/process-identity.ts";
import { claimInTurn, nextLookAt, releaseRun } from "../../src/runs/claim-store.ts";
import { recoverInterruptedRuns } from "../../src/runs/recover.ts";
import { insertRunning, recordBeat } from "../../src/runs/run-store.ts";
import { followers, registerProcess, tellFollowing } from "../../src/store/processes.ts";
import { createLog } from "../../src/platform/log.ts";
import { setClock } from "../support/databases.ts";
import { insertRun, openDatabase, rowOf } from "../support/store-rows.ts";

const NOW = 1_800_000_000_000;
const log = createLog({ from: "ERROR", format: "text", redact: (text) => text, write: () => {} });

test("P2 looks are shared evenly by two whose clocks differ, and are as many as allowed", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const workers = [
    { processId: "right", ahead: 0, claimed: 0 },
    { processId: "behind", ahead: -4_000, claimed: 0 },
  ];
  for (const { processId } of workers) {
    for (const n of Array(20).keys())
      await insertRun(db, { task_id: `${processId} ${n}`, handed_to: processId, next_poll_at: 0 });
  }
  for (let time = NOW; time < NOW + 5_000; time += 50) {
    await setClock(db, time);
    for (const worker of workers) {
      const [now, among] = [time + worker.ahead, { handedTo: worker.processId }];
      if (((await nextLookAt(db, now, among)) ?? Infinity) > now) continue;
      const claim = { processId: worker.processId, limit: 8, maxRps: 15, now, nextPollAt: now + 1_000, among };
      const runs = await claimInTurn(db, claim);
      for (const run of runs) await releaseRun(db, run);
      worker.claimed += runs.length;
    }
    workers.reverse();
  }
  const [one, other] = workers.map(({ claimed }) => claimed);
  expect((one ?? 0) + (other ?? 0)).toBeGreaterThan(60);
  expect((one ?? 0) + (other ?? 0)).toBeLessThanOrEqual(78);
  expect(Math.min(one ?? 0, other ?? 0)).toBeGreaterThan(20);
});

test.each([-120_000, -26_000, 26_000, 120_000])(
  "P2 a worker whose clock is off by %i ms follows as long as it says so, and no longer",
  async (off) => {
    const db = await openDatabase({ stoppedAt: NOW });
    const processId = randomUUID();
    await registerProcess(db, { ...thisProcess(), processId, host: "elsewhere" }, NOW + off);
    await tellFollowing(db, processId, { now: NOW + off });
    await setClock(db, NOW + 24_999);
    expect(await followers(db, NOW)).toEqual([processId]);
    await setClock(db, NOW + 25_000);
    expect(await followers(db, NOW)).toEqual([]);
    await tellFollowing(db, processId, { now: NOW + off });
    expect(await followers(db, NOW)).toEqual([processId]);
    await tellFollowing(db, processId, undefined);
    expect(await followers(db, NOW)).toEqual([]);
  },
);

test.each([-120_000, 120_000])(
  "P2 a search of a machine whose clock is off by %i ms is interrupted when it was silent, not before",
  async (off) => {
    const db = await openDatabase({ stoppedAt: NOW });
    const [processId, taskId] = [randomUUID(), randomUUID()];
    await registerProcess(db, { ...thisProcess(), processId, host: "elsewhere" }, NOW + off);
    const asked = { owner: "local", kind: "deep_search" as const, query: "a question", options: {}, client: undefined };
    await insertRunning(db, { ...asked, taskId, processId, now: NOW + off });
    await setClock(db, NOW + 59_000);
    expect(await recoverInterruptedRuns(db, log, NOW)).toBe(0);
    const beat = { taskId, processId, progress: 1, currentAction: "", tokens: { input: 0, output: 0 } };
    await recordBeat(db, { ...beat, cost: NO_COST, now: NOW + off });
    await setClock(db, NOW + 118_000);
    expect(await recoverInterruptedRuns(db, log, NOW)).toBe(0);
    await setClock(db, NOW + 119_000);
    expect(await recoverInterruptedRuns(db, log, NOW)).toBe(1);
    expect(await rowOf(db, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
  },
);
