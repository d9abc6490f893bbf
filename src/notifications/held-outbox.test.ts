/** Notifications of runs whose start may still return the result itself: withdrawn, or shown later. */

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { systemClock } from "../platform/clock.ts";
import type { Database } from "../store/database.ts";
import type { Notification } from "./desktop.ts";
import { claimNext, createOutboxSender, enqueue, withdraw } from "./outbox.ts";
import { silentLog as log } from "../../test/kit/log.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function newRun(db: Database): Promise<string> {
  const taskId = randomUUID();
  await insertRun(db, { task_id: taskId });
  return taskId;
}

interface Ended {
  taskId: string;
  now?: number;
  /** Milliseconds from now; negative if the call has stopped waiting. */
  callerWaitsMs?: number;
}

const put = (db: Database, { taskId, now = Date.now(), callerWaitsMs }: Ended): Promise<void> =>
  db.transaction().execute((transaction) =>
    enqueue(transaction, {
      taskId,
      channel: "desktop",
      kind: "completed",
      payload: { title: "completed", body: taskId },
      now,
      callerWaitsUntil: callerWaitsMs === undefined ? null : now + callerWaitsMs,
    }),
  );

function sender(db: Database) {
  const shown: Notification[] = [];
  const notify = async (notification: Notification) => shown.push(notification);
  return { shown, ...createOutboxSender({ db, processId: randomUUID(), clock: systemClock, log, notify }) };
}

test("a withdrawn notification is never shown, a claimed one cannot be withdrawn (O2)", async () => {
  const db = await openDatabase();
  const [returned, claimed] = [await newRun(db), await newRun(db)];
  await put(db, { taskId: claimed });
  expect(await claimNext(db, { processId: "a", now: Date.now() })).toMatchObject({ taskId: claimed });
  await put(db, { taskId: returned, callerWaitsMs: 1_000 });
  for (const taskId of [returned, claimed]) await withdraw(db, taskId);
  const rows = await db.selectFrom("notification_outbox").select("task_id").execute();
  expect(rows).toEqual([{ task_id: claimed }]);
  expect(await claimNext(db, { processId: "b", now: Date.now() + DAY_MS })).toBeUndefined();
});

test("a notification that no call withdraws is shown once within 2 s, others at once (O1, O2)", async () => {
  const db = await openDatabase();
  const [held, other] = [await newRun(db), await newRun(db)];
  await put(db, { taskId: held, callerWaitsMs: 20_000 });
  await put(db, { taskId: other });
  const rows = await db.selectFrom("notification_outbox").select(["task_id", "created_at", "not_before"]).execute();
  const { created_at = 0, not_before = 0 } = rows.find(({ task_id }) => task_id === held) ?? {};
  expect(not_before - created_at).toBeGreaterThan(0);
  expect(not_before - created_at).toBeLessThan(2_000);
  const [first, second] = [sender(db), sender(db)];
  await Promise.all([first.deliverPending(), second.deliverPending()]);
  const shown = () => [...first.shown, ...second.shown].map(({ body }) => body);
  expect(shown()).toEqual([other]);
  await expect.poll(shown, { interval: 10 }).toHaveLength(2);
  await systemClock.sleep(200);
  expect(shown().toSorted()).toEqual([other, held].toSorted());
});

test.for([
  ["of a process that died is shown by the next one (O3)", { now: -60_000, callerWaitsMs: 20_000 }],
  ["is not delayed by a clock that was set back (O1)", { now: 3_600_000, callerWaitsMs: 20_000 }],
  ["is not delayed by a call that has stopped waiting (O1)", { now: 0, callerWaitsMs: -1 }],
] as const)("a notification %s", async ([, { now, callerWaitsMs }]) => {
  const db = await openDatabase();
  await put(db, { taskId: await newRun(db), now: Date.now() + now, callerWaitsMs });
  expect(await sender(db).deliverPending()).toBe(1);
});
