import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { appendEvents, eventsAfter, newestEvents, type RunEvent } from "./event-store.ts";

const thoughts = (from: number, count: number): RunEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: "thought",
    text: `Thought ${from + index}`,
    at: 1_000 + from + index,
    eventKey: `key-${from + index}`,
  }));

test("a burst of more events than one statement takes is stored completely, and the timeline continues (J3)", async () => {
  const db = await openDatabase();
  const taskId = "00000000-0000-4000-8000-000000000001";
  await insertRun(db, { task_id: taskId });
  expect(await appendEvents(db, taskId, thoughts(1, 40_000))).toHaveLength(40_000);
  // Stored again by another process, with one new event.
  expect(await appendEvents(db, taskId, thoughts(1, 40_001))).toHaveLength(1);
  expect(await appendEvents(db, taskId, thoughts(40_002, 1))).toHaveLength(1);
  const newest = await newestEvents(db, taskId, 2);
  expect(newest.map(({ seq, text }) => [seq, text])).toEqual([
    [40_001, "Thought 40001"],
    [40_002, "Thought 40002"],
  ]);
  expect(await eventsAfter(db, taskId, { after: 39_999, limit: 10 })).toHaveLength(3);
}, 60_000);
