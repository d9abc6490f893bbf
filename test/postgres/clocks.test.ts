/** Machines with different clocks on one database, whose clock they all use. */

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { thisProcess } from "../../src/platform/process-identity.ts";
import { canHaveExpired } from "../../src/runs/poll/ask.ts";
import { markInterruptedSearches } from "../../src/runs/recovery/dead-processes.ts";
import { insertRunning, recordBeat } from "../../src/runs/run-store.ts";
import { polledKeys, recordHeartbeat, registerProcess } from "../../src/store/processes.ts";
import { setClock } from "../kit/store/databases.ts";
import { openDatabase, rowOf } from "../kit/store/store-rows.ts";
import { silentLog as log } from "../kit/log.ts";

const NOW = 1_800_000_000_000;

test.each([-120_000, -61_000, 61_000, 120_000])(
  "a worker whose clock is off by %i ms polls with its key as long as its heartbeats arrive, and no longer (P2)",
  async (off) => {
    const db = await openDatabase({ stoppedAt: NOW });
    const processId = randomUUID();
    await registerProcess(db, { ...thisProcess(), processId, host: "elsewhere" }, NOW + off);
    await recordHeartbeat(db, processId, { key: "k", now: NOW + off });
    await setClock(db, NOW + 59_999);
    expect(await polledKeys(db, NOW)).toEqual(["k"]);
    await setClock(db, NOW + 60_000);
    expect(await polledKeys(db, NOW)).toEqual([]);
    await recordHeartbeat(db, processId, { key: "k", now: NOW + off });
    expect(await polledKeys(db, NOW)).toEqual(["k"]);
  },
);

test.each([-120_000, 120_000])(
  "a search of a machine whose clock is off by %i ms is interrupted when its heartbeats stop, not before (P2)",
  async (off) => {
    const db = await openDatabase({ stoppedAt: NOW });
    const [processId, taskId] = [randomUUID(), randomUUID()];
    await registerProcess(db, { ...thisProcess(), processId, host: "elsewhere" }, NOW + off);
    const asked = { owner: "local", kind: "deep_search" as const, query: "a question", options: {}, client: undefined };
    await insertRunning(db, { ...asked, taskId, processId, now: NOW + off });
    await setClock(db, NOW + 59_000);
    expect(await markInterruptedSearches(db, log, NOW)).toBe(0);
    const beat = { taskId, processId, progress: 1, currentAction: "", tokens: { input: 0, output: 0 } };
    await recordBeat(db, { ...beat, now: NOW + off });
    await setClock(db, NOW + 118_000);
    expect(await markInterruptedSearches(db, log, NOW)).toBe(0);
    await setClock(db, NOW + 119_000);
    expect(await markInterruptedSearches(db, log, NOW)).toBe(1);
    expect(await rowOf(db, taskId)).toMatchObject({ status: "failed", error_code: "INTERRUPTED" });
  },
);

test.each([-86_400_000, 86_400_000])(
  "an interaction counts as expired a day after its start, on a machine whose clock is off by %i ms (P2)",
  async (off) => {
    const db = await openDatabase({ stoppedAt: NOW });
    const run = { interactionId: "unknown", createdAt: NOW };
    const clock = { ...systemClock, now: () => NOW + off };
    await setClock(db, NOW + 86_399_000);
    expect(await canHaveExpired({ db, clock }, run)).toBe(false);
    await setClock(db, NOW + 86_400_000);
    expect(await canHaveExpired({ db, clock }, run)).toBe(true);
  },
);
