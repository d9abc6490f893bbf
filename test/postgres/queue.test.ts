/** The engine that hands out runs, on a real PostgreSQL: what it may do with a run, and what it must not. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { ask, sharedFor } from "../support/databases.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import type { Database } from "../../src/store/database.ts";
import { openStore } from "../../src/store/store.ts";
import { openDistributedQueue } from "../../src/queue/distributed.ts";
import type { FollowedRuns } from "../../src/queue/queue.ts";

const log = createLog({ from: "ERROR", format: "text", redact: (text) => text, write: () => {} });

/** One or several processes on one database. */
async function openQueues(count = 1) {
  const shared = await sharedFor(randomUUID());
  if (shared === undefined) throw new Error("These tests are for PostgreSQL.");
  const opened = await Promise.all(
    Array.from({ length: count }, async () => {
      const { db, close } = await openStore({ file: undefined, shared, clock: systemClock, log });
      const queue = await openDistributedQueue({ db, log });
      onTestFinished(async () => {
        await queue.close();
        await close();
      });
      return { db, queue };
    }),
  );
  return { url: shared.url, processes: opened };
}

async function openQueue() {
  const { url, processes } = await openQueues();
  const [process] = processes;
  if (process === undefined) throw new Error("No process.");
  const { db, queue } = process;
  return {
    url,
    db,
    queue,
    offer: (...ids: string[]) => db.transaction().execute((transaction) => queue.offer(transaction, ids.map(ofUs))),
    take: (most = 10) => takenBy(process, most),
    giveBack: (...ids: string[]) => db.transaction().execute((transaction) => queue.giveBack(transaction, ids)),
    repair: (...ids: string[]) =>
      db.transaction().execute((transaction) => queue.repair(transaction, following(transaction, ids))),
  };
}

const ofUs = (taskId: string) => ({ taskId, owner: "local" });
const takenBy = ({ db, queue }: { db: Database; queue: Awaited<ReturnType<typeof openDistributedQueue>> }, most = 10) =>
  db.transaction().execute((transaction) => queue.take(transaction, most));

/** As if these, and no others, were followed. */
const following = (db: Database, ids: string[]): FollowedRuns =>
  db.selectNoFrom(({ val }) => [sql<string>`unnest(${ids}::text[])`.as("task_id"), val("local").as("owner")]);

describe("a run that is offered", () => {
  test("is there when its transaction is, and not without it", async () => {
    const { db, queue, take } = await openQueue();
    const [kept, lost] = [randomUUID(), randomUUID()];
    await db.transaction().execute((transaction) => queue.offer(transaction, [ofUs(kept)]));
    const failing = db.transaction().execute(async (transaction) => {
      await queue.offer(transaction, [ofUs(lost)]);
      throw new Error("something else went wrong");
    });
    await expect(failing).rejects.toThrow("something else");
    expect(await take()).toEqual([kept]);
  });

  test("is there also when more are offered at once than there are connections", async () => {
    const { offer, take } = await openQueue();
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await Promise.all(ids.map((id) => offer(id)));
    expect((await take(20)).toSorted()).toEqual(ids.toSorted());
  });

  test("is handed to one of many, however often it is offered", async () => {
    const { processes } = await openQueues(3);
    const ids = Array.from({ length: 300 }, () => randomUUID());
    for (const { db, queue } of processes) {
      await db.transaction().execute((transaction) => queue.offer(transaction, ids.map(ofUs)));
    }
    const taken = await Promise.all([...processes, ...processes].map((process) => takenBy(process, 100)));
    const rest = await Promise.all(processes.map((process) => takenBy(process, 300)));
    expect([...taken, ...rest].flat().toSorted()).toEqual(ids.toSorted());
  });

  test("is taken no more than once, until it is given back: then at once, and any number of times", async () => {
    const { offer, take, giveBack } = await openQueue();
    const id = randomUUID();
    await offer(id);
    for (let times = 0; times < 5; times += 1) {
      expect(await take()).toEqual([id]);
      expect(await take()).toEqual([]);
      await giveBack(id);
    }
  });
});

describe("a repair", () => {
  test("offers what is followed and was lost, and drops what is not followed, also while somebody has it", async () => {
    const { offer, take, repair } = await openQueue();
    const [known, lost, strange, held] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await offer(held);
    expect(await take()).toEqual([held]);
    await offer(known, strange);
    expect(await repair(known, lost)).toEqual({ offered: 1, dropped: 2, silent: 0 });
    expect(await repair(known, lost)).toEqual({ offered: 0, dropped: 0, silent: 0 });
    expect((await take()).toSorted()).toEqual([known, lost].toSorted());
    await offer(held);
    expect(await take()).toEqual([held]);
  });

  test("offers again what somebody ended by hand", async () => {
    const { url, offer, take, repair } = await openQueue();
    const id = randomUUID();
    await offer(id);
    await ask(url, "update gemini_search_jobs.job set state = 'completed', completed_on = now()");
    expect(await take()).toEqual([]);
    expect(await repair(id)).toEqual({ offered: 1, dropped: 1, silent: 0 });
    expect(await take()).toEqual([id]);
  });

  test("P2 takes from a holder that was silent for longer than it may, and not from one that says it is there", async () => {
    const { url, queue, offer, take, repair } = await openQueue();
    const [silent, kept] = [randomUUID(), randomUUID()];
    await offer(silent, kept);
    expect(await take()).toHaveLength(2);
    expect(await repair(silent, kept)).toMatchObject({ silent: 0 });
    await ask(url, "update gemini_search_jobs.job set heartbeat_on = now() - interval '41 seconds'");
    await queue.keep([kept]);
    expect(await repair(silent, kept)).toEqual({ offered: 0, dropped: 0, silent: 1 });
    expect(await take()).toEqual([silent]);
  });
});
