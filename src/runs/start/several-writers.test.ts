/** Concurrent writes by several servers with their own connections to one database. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sharedFor, stopClock } from "../../../test/kit/store/databases.ts";
import { insertAttempt, insertCost, insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { ERROR, intended, INTENT, NOW, restart } from "../../../test/kit/store/stored-start.ts";
import { claimNext, enqueue } from "../../notifications/outbox.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { createSlotPool } from "../../store/slots.ts";
import { openStore, type Store } from "../../store/store.ts";
import { cancelHere } from "../cancel/cancel-store.ts";
import { beginContinuation } from "../run-store.ts";
import { appendEvents } from "../event-store.ts";
import { finishAgentRun } from "../poll/poll-result-store.ts";
import { adoptInteractionId, saveInteractionId } from "../interaction-store.ts";
import { currentOf, standAlone } from "../conversation-store.ts";
import { lockRun } from "../lock-store.ts";
import { commitIntent, recordStartFailure } from "./start-store.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

async function openServers(count: number, { stoppedAt }: { stoppedAt?: number } = {}): Promise<Store[]> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-writers-"));
  const file = join(directory, "deep_research.db");
  const shared = await sharedFor(file);
  if (shared !== undefined && stoppedAt !== undefined) await stopClock(shared.url, stoppedAt);
  const stores = await Promise.all(range(count).map(() => openStore({ file, shared, clock: systemClock, log })));
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return stores;
}

/** Runs `act` concurrently, `times` times on each server. */
const everywhere = <T>(servers: Store[], times: number, act: (db: Database, n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(servers.flatMap(({ db }, server) => range(times).map((n) => act(db, server * times + n))));

const range = (length: number): number[] => Array.from({ length }, (_, n) => n);

const databaseOf = ([first]: Store[]): Database => {
  if (first === undefined) throw new Error("There is no server.");
  return first.db;
};

test("of identical starts in several processes exactly one is sent, and the others join it (I8, I9)", async () => {
  const servers = await openServers(3);
  for (const round of range(5)) {
    const intent = { ...INTENT, joinKey: `round ${round}` };
    const outcomes = await everywhere(servers, 6, (db) => commitIntent(db, intent, { join: true }));
    expect(outcomes.filter(({ kind }) => kind === "intended")).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => "taskId" in outcome && outcome.taskId)).size).toBe(1);
  }
});

test("of concurrent restarts in several processes exactly one is sent (I8, I10)", async () => {
  const servers = await openServers(3);
  const db = databaseOf(servers);
  const { taskId, attemptId } = await intended(db);
  await recordStartFailure(db, { taskId, attemptId, to: "start_unknown", error: ERROR, now: NOW });
  const attempts = await everywhere(servers, 6, (here) => restart(here, taskId));
  expect(attempts.filter((attempt) => attempt !== undefined)).toHaveLength(1);
});

test("when runs of several owners adopt one id at the same moment, exactly one gets it (Q1)", async () => {
  const servers = await openServers(3);
  const db = databaseOf(servers);
  for (const round of range(5)) {
    const runs = await Promise.all(range(6).map((n) => intended(db, { joinKey: `${round} ${n}`, owner: `user ${n}` })));
    for (const run of runs) await recordStartFailure(db, { ...run, to: "start_unknown", error: ERROR, now: NOW });
    const adopted = await everywhere(servers, 2, (here, n) => {
      const adoption = { taskId: runs[n]?.taskId ?? "", interactionId: `v1_${round}`, deadlineAt: NOW, now: NOW };
      return adoptInteractionId(here, adoption);
    });
    expect(adopted.filter((isAdopted) => isAdopted)).toHaveLength(1);
    const held = await Promise.all(runs.map(({ taskId }) => rowOf(db, taskId)));
    expect(held.filter(({ interaction_id }) => interaction_id !== null)).toHaveLength(1);
  }
});

test("a sender that was suspended during a restart never ends the new run, however close the two are (I8)", async () => {
  const servers = await openServers(2);
  const [one, other] = servers.map(({ db }) => db);
  if (one === undefined || other === undefined) throw new Error("There are two.");
  for (const round of range(30)) {
    const { taskId, attemptId } = await intended(one, { joinKey: `round ${round}` });
    const unknown = { taskId, attemptId, to: "start_unknown", error: ERROR, now: NOW } as const;
    // The sender reads the run as pending; it becomes unknown and is restarted before the sender's outcome is written.
    const [, restarted] = await Promise.all([
      recordStartFailure(one, unknown),
      recordStartFailure(other, unknown).then(() => restart(other, taskId)),
      recordStartFailure(one, { ...unknown, to: "failed" }),
    ]);
    const { status } = await currentOf(one, "local", taskId);
    // If the failure is written before the run becomes unknown, there is nothing to restart.
    expect([restarted === undefined ? "failed" : "pending", round]).toEqual([status, round]);
  }
});

test("a restart that fails once the first start is known does not give way to it (I8)", async () => {
  const servers = await openServers(2);
  const [one, other] = servers.map(({ db }) => db);
  if (one === undefined || other === undefined) throw new Error("There are two.");
  const first = await intended(one);
  await recordStartFailure(one, { ...first, to: "start_unknown", error: ERROR, now: NOW });
  const second = await restart(one, first.taskId);
  if (second === undefined) throw new Error("It was not sent again.");
  await recordStartFailure(one, { ...second, to: "start_unknown", error: ERROR, now: NOW });
  let failing: Promise<void> | undefined;
  await one.transaction().execute(async (transaction) => {
    await lockRun(transaction, first.taskId);
    await standAlone(transaction, first.taskId);
    // Its sender was suspended: it reads the run, and waits for the lock.
    failing = recordStartFailure(other, { ...second, to: "failed", error: ERROR, now: NOW });
    await systemClock.sleep(200);
  });
  await failing;
  const row = await rowOf(one, second.taskId);
  expect(row).toMatchObject({ status: "failed", carries_on: null, parent_task_id: first.taskId, gave_way: 0 });
});

test("an id that arrives while its run is being cancelled is stored, and the cancel at Google is scheduled (I8, L1)", async () => {
  const servers = await openServers(2);
  const [one, other] = servers.map(({ db }) => db);
  if (one === undefined || other === undefined) throw new Error("There are two.");
  for (const round of range(20)) {
    const { taskId, attemptId } = await intended(one, { joinKey: `round ${round}` });
    await Promise.all([
      saveInteractionId(one, { attemptId, interactionId: `v1_${round}`, now: NOW }),
      cancelHere(other, { taskId, confirmed: false, keepPartial: true, now: NOW }),
    ]);
    expect(await rowOf(one, taskId)).toMatchObject({
      status: "cancelled",
      interaction_id: `v1_${round}`,
      next_poll_at: NOW,
    });
  }
});

test("the end of a run that two processes see is written once, with one notification (P2)", async () => {
  const servers = await openServers(2);
  const db = databaseOf(servers);
  await insertRun(db, { task_id: "done" });
  await insertAttempt(db, { attempt_id: "a", task_id: "done", interaction_id: "v1_done", state: "accepted" });
  await insertCost(db, { task_id: "done", entryId: "a" });
  const report = { report: "# Report", sources: [], metadata: {}, partial: false };
  const ended = await everywhere(servers, 4, (here) =>
    finishAgentRun(here, {
      run: {
        taskId: "done",
        interactionId: "v1_done",
        createdAt: 1,
        part: "question",
        cancelRequestedAt: undefined,
      },
      to: "completed",
      result: report,
      error: undefined,
      tokens: undefined,
      cost: { usd: 0.1 + 0.2, incomplete: false, estimated: false },
      usageFinal: true,
      nextPollAt: undefined,
      now: NOW,
    }),
  );
  expect(ended.filter(Boolean)).toHaveLength(1);
  expect((await rowOf(db, "done")).cost_micros).toBe(300_000);
  const claims = await everywhere(servers, 4, (here, n) => claimNext(here, { processId: `p${n}`, now: NOW }));
  expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
});

test("each notification is claimed by one process (O2)", async () => {
  const servers = await openServers(3);
  const db = databaseOf(servers);
  for (const n of range(12)) {
    await insertRun(db, { task_id: `run ${n}` });
    const payload = { title: "t", body: "b" };
    await db
      .transaction()
      .execute((transaction) =>
        enqueue(transaction, { taskId: `run ${n}`, channel: "desktop", kind: "completed", payload, now: NOW }),
      );
  }
  const claims = await everywhere(servers, 6, (here, n) => claimNext(here, { processId: `p${n}`, now: NOW }));
  const runs = claims.flatMap((claim) => (claim === undefined ? [] : [claim.taskId]));
  expect(runs).toHaveLength(12);
  expect(new Set(runs).size).toBe(12);
});

test("events of one run that several processes append are all stored, each with its own number (J3)", async () => {
  const servers = await openServers(3);
  const db = databaseOf(servers);
  await insertRun(db, { task_id: "with events" });
  await everywhere(servers, 5, (here, n) =>
    appendEvents(here, "with events", [
      { kind: "thought", text: `${n} a`, at: NOW },
      { kind: "thought", text: `${n} b`, at: NOW },
    ]),
  );
  const events = await db.selectFrom("research_events").select("seq").orderBy("seq").execute();
  expect(events.map(({ seq }) => seq)).toEqual(range(30).map((n) => n + 1));
});

test("of several continuations of an interrupted search one begins, and the others find its run (Q1)", async () => {
  const servers = await openServers(3);
  const db = databaseOf(servers);
  await insertRun(db, { task_id: "interrupted", kind: "deep_search", status: "failed", interaction_id: null });
  const continued = await everywhere(servers, 4, (here) =>
    beginContinuation(here, {
      taskId: randomUUID(),
      parentTaskId: "interrupted",
      owner: "local",
      kind: "deep_search",
      query: "q",
      options: {},
      client: undefined,
      processId: "p",
      claimRest: async () => ({}),
      now: NOW,
    }),
  );
  expect(continued.filter(({ kind }) => kind === "begun")).toHaveLength(1);
});

test("processes never hold more slots than the pool has, however many request one at once (C9)", async () => {
  const servers = await openServers(3);
  const gone = new AbortController();
  const takers = servers.flatMap(({ db, processId }) =>
    range(4).map(() =>
      createSlotPool({ db, processId, clock: systemClock, log, pool: "test", size: 2, withoutStore: "Not limited" }),
    ),
  );
  let waiting = 0;
  // Twelve requests for two slots; the ten that have to wait are counted and then aborted.
  const results = await Promise.allSettled(
    takers.map((pool) =>
      pool.take({
        signal: gone.signal,
        onWait: () => {
          waiting += 1;
          if (waiting === 10) gone.abort();
        },
      }),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  for (const result of results) if (result.status === "fulfilled") await result.value();
});
