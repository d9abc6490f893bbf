/** What an engine that hands out runs does with workers that are full, late, silent or gone. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { thisProcess } from "../../src/platform/process-identity.ts";
import type { RunQueue } from "../../src/queue/queue.ts";
import { reopen } from "../../src/runs/follow-store.ts";
import { runsHandedTo } from "../../src/runs/handed-store.ts";
import { LOOK_LEASE_MS } from "../../src/runs/lease.ts";
import { NO_LIMITS } from "../../src/runs/limits-store.ts";
import { saveInteractionId } from "../../src/runs/interaction-store.ts";
import { commitIntent, commitRestart } from "../../src/runs/start-store.ts";
import type { Database } from "../../src/store/database.ts";
import { hostHere } from "../../src/store/dialect.ts";
import { forgetProcess, registerProcess, tellFollowing } from "../../src/store/processes.ts";
import { setClock } from "../support/databases.ts";
import { clock, insertRuns, openDistributed, setAhead, startWorker, untilClaimed } from "../support/handed-workers.ts";
import { insertAttempt, insertRun, openDatabase, rowOf } from "../support/store-rows.ts";
import { INTENT } from "../support/stored-start.ts";
import { waitFor } from "../support/wait-for.ts";

describe("an engine", () => {
  const jobs = async (db: Database): Promise<number> => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from gemini_search_jobs.job`.execute(db);
    return rows[0]?.n ?? 0;
  };

  test("I10 has a job for a start as soon as that is stored, and none for one that is refused", async () => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    const limits = { ...NO_LIMITS, unfinished: 1 };
    const intend = (joinKey: string) => commitIntent(db, { ...INTENT, joinKey }, { join: true, queue, limits });
    expect(await intend("one")).toMatchObject({ kind: "intended" });
    await expect(intend("another")).rejects.toMatchObject({ code: "BUSY" });
    expect(await intend("one")).toMatchObject({ kind: "joined" });
    expect(await jobs(db)).toBe(1);
  });

  test("Q1 has a job again for a run that is started, adopted or looked at once more", async () => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    const [restarted, adopted, reopened] = [randomUUID(), randomUUID(), randomUUID()];
    const unknown = { status: "start_unknown", interaction_id: null };
    for (const task_id of [restarted, adopted]) await insertRun(db, { task_id, ...unknown });
    await insertRun(db, { task_id: reopened, status: "failed" });
    const restart = { keyFingerprint: "k", baseUrl: "b", processId: "me", deadlineAt: 9, now: 5 };
    await commitRestart(db, { ...restart, taskId: restarted }, { queue });
    expect(await jobs(db)).toBe(1);
    await insertAttempt(db, { attempt_id: "of adopted", task_id: adopted, state: "unknown" });
    await saveInteractionId(db, { attemptId: "of adopted", interactionId: "v1_new", now: 5 }, queue);
    expect(await jobs(db)).toBe(2);
    await reopen(db, reopened, { now: 5, deadlineAt: 9, queue });
    expect(await jobs(db)).toBe(3);
  });

  test("hands a worker no more than it takes, and the rest to another", async () => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    await insertRuns(db, 12);
    const [small, large] = [await startWorker(db, queue, { mostFollowed: 3 }), await startWorker(db, queue)];
    await untilClaimed([small, large], 12);
    expect((await runsHandedTo(db, small.processId)).length).toBeLessThanOrEqual(3);
  });

  test.each([
    ["is gone from this machine", { host: undefined, followsAt: 0, forget: true }],
    ["was silent on another machine", { host: "elsewhere", followsAt: 26_000, forget: false }],
  ])("P2 takes the runs of a worker that %s, in the midst of a look", async (_name, { host, followsAt, forget }) => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    const gone = randomUUID();
    const now = clock.now();
    await registerProcess(db, { ...thisProcess(), processId: gone, host: host ?? hostHere(db) }, now);
    await tellFollowing(db, gone, { now });
    await sql`update processes set follows_at = follows_at - ${followsAt} where process_id = ${gone}`.execute(db);
    const task_id = randomUUID();
    const looking = { lease_owner: gone, lease_until: now + LOOK_LEASE_MS, handed_to: gone };
    await insertRun(db, { task_id, next_poll_at: 0, ...looking });
    const sending = randomUUID();
    await insertRun(db, { task_id: sending, status: "pending", interaction_id: null, ...looking });
    if (forget) await forgetProcess(db, gone);
    const other = await startWorker(db, queue);
    expect(await untilClaimed([other], 1)).toEqual([[task_id]]);
    // What is being paid for keeps its time.
    expect(await rowOf(db, sending)).toMatchObject({ lease_owner: gone, lease_until: now + LOOK_LEASE_MS });
  });

  test("leaves a worker that says it follows what it has", async () => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    await insertRuns(db, 3);
    const [first, second] = [
      await startWorker(db, queue, { host: "elsewhere" }),
      await startWorker(db, queue, { mostFollowed: 0 }),
    ];
    await untilClaimed([first], 3);
    await second.sweepNow();
    expect(await runsHandedTo(db, first.processId)).toHaveLength(3);
  });

  test("P2 is gone over by one of all processes in five seconds, not by each", async () => {
    const db = await openDatabase({ stoppedAt: clock.now() });
    const began = clock.now();
    let repaired = 0;
    const engine = await openDistributed(db);
    const queue: RunQueue = {
      ...engine,
      repair: (...asked) => {
        repaired += 1;
        return engine.repair(...asked);
      },
    };
    const workers = await Promise.all([1, 2, 3, 4].map(() => startWorker(db, queue, { mostFollowed: 0 })));
    for (let ms = 0; ms < 20_000; ms += 1_000) {
      await setClock(db, began + ms);
      for (const worker of workers) await worker.sweep();
    }
    expect(repaired).toBe(4);
  });

  test("forgets runs that have ended, and has one job for each that has not", async () => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    const [ended = ""] = await insertRuns(db, 4);
    const worker = await startWorker(db, queue);
    await untilClaimed([worker], 4);
    await db
      .updateTable("research_tasks")
      .set({ next_poll_at: null, status: "failed" })
      .where("task_id", "=", ended)
      .execute();
    await worker.sweepNow();
    expect(await rowOf(db, ended)).toMatchObject({ handed_to: null });
    expect(await jobs(db)).toBe(3);
  });

  test("P2 gives a worker that came later its share within the next balance", async () => {
    const db = await openDatabase();
    const queue = await openDistributed(db);
    await insertRuns(db, 20);
    const first = await startWorker(db, queue);
    await untilClaimed([first], 20);
    onTestFinished(() => setAhead(0));
    let ahead = 0;
    const second = await startWorker(db, queue);
    // Each says anew that it follows, before the other is asked for its share.
    await waitFor(
      async () => {
        setAhead((ahead += 2_000));
        expect((await runsHandedTo(db, second.processId)).length).toBeGreaterThanOrEqual(7);
      },
      { timeout: 20_000, interval: 100 },
    );
    expect((await runsHandedTo(db, first.processId)).length + (await runsHandedTo(db, second.processId)).length).toBe(
      20,
    );
  });
});
