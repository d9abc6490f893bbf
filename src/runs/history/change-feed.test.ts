/** The change feed on a real database, with fake timers. */

import { sql } from "kysely";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { NO_COST } from "../../costs/actual.ts";
import { onPostgres, sharedFor } from "../../../test/kit/store/databases.ts";
import { openStore } from "../../store/store.ts";
import { organizeRun } from "../library/organize-store.ts";
import { finishRun, insertRunning, recordBeat } from "../run-store.ts";
import { type RunChanges, watchRuns } from "./change-feed.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

const clock = { now: () => Date.now(), monotonic: () => Date.now(), sleep: () => Promise.resolve() };
const NOTHING_SPENT = { tokens: { input: 0, output: 0 }, cost: NO_COST };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function openFeed() {
  const { db, processId, close } = await openStore({
    file: undefined,
    shared: await sharedFor(undefined, 1),
    clock,
    log,
  });
  onTestFinished(() => close());
  let reads = 0;
  const received: RunChanges[] = [];
  const database = async () => {
    reads += 1;
    return db;
  };
  /** Waits for the queries of a read, which run before these. A read may start its query a few ticks late. */
  const settled = async (): Promise<void> => {
    for (const _ of [1, 2, 3]) await sql`select 1`.execute(db);
  };
  const waitForReads = async (enough: number): Promise<void> => {
    if (reads >= enough) return;
    await vi.advanceTimersByTimeAsync(1_000);
    // Otherwise the clock advances while the read waits for its result.
    await settled();
    await waitForReads(enough);
  };
  return {
    db,
    reads: () => reads,
    /** Changes received since the last call, after this many more reads. */
    receivedAfter: async (wanted: number) => {
      await waitForReads(reads + wanted);
      await settled();
      return received.splice(0);
    },
    watch: (owner = "local") =>
      watchRuns({ database, notifications: async () => undefined, clock, owner }, (changes) => received.push(changes)),
    start: (taskId: string, owner = "local", now = Date.now()) =>
      insertRunning(db, { taskId, owner, kind: "search", query: "q", options: {}, client: undefined, processId, now }),
    beat: (taskId: string, progress: number) =>
      recordBeat(db, { taskId, processId, progress, currentAction: "Searching", ...NOTHING_SPENT, now: Date.now() }),
    finish: (taskId: string) =>
      finishRun(db, {
        ...NOTHING_SPENT,
        taskId,
        processId,
        to: "completed",
        result: { report: "# R", sources: [], metadata: {}, partial: false },
        error: undefined,
        backend: "api",
        model: "m",
        usageFinal: true,
        now: Date.now(),
      }),
  };
}

const changed = (taskId: string, finished: boolean, listChanged: boolean): RunChanges[] => [
  { runs: [{ taskId, otherIds: [], finished }], written: [taskId], listChanged },
];

const onlyWritten = (taskId: string): RunChanges[] => [{ runs: [], written: [taskId], listChanged: false }];

test("a run counts as changed when it starts, advances or ends, and as written when it sends a heartbeat (J3)", async () => {
  const feed = await openFeed();
  const stop = feed.watch();
  onTestFinished(stop);
  expect(await feed.receivedAfter(2)).toEqual([]);
  await feed.start("one");
  expect(await feed.receivedAfter(1)).toEqual(changed("one", false, true));
  await feed.beat("one", 10);
  expect(await feed.receivedAfter(1)).toEqual(changed("one", false, false));
  await feed.beat("one", 10);
  expect(await feed.receivedAfter(2)).toEqual(onlyWritten("one"));
  // Unchanged for so long that no read returns it any more, but still remembered.
  await feed.receivedAfter(20);
  await feed.beat("one", 10);
  expect(await feed.receivedAfter(2)).toEqual(onlyWritten("one"));
  await feed.finish("one");
  expect(await feed.receivedAfter(1)).toEqual(changed("one", true, true));
  expect(await feed.receivedAfter(20)).toEqual([]);
});

test("a run that is renamed, starred or archived counts as changed, and so does the list", async () => {
  const { db, receivedAfter, watch, start, finish } = await openFeed();
  await start("ended");
  await finish("ended");
  await start("running");
  onTestFinished(watch());
  await receivedAfter(2);
  const marks = { owner: "local", title: undefined, starred: undefined, archived: undefined };
  for (const [taskId, mark] of [
    ["running", { title: "Mine" }],
    ["running", { starred: true }],
    ...(onPostgres ? [] : [["ended", { archived: true }] as const]),
  ] as const) {
    await organizeRun(db, { ...marks, taskId, now: Date.now(), ...mark });
    const changes = await receivedAfter(2);
    expect(changes.flatMap(({ runs }) => runs.map((run) => run.taskId))).toEqual([taskId]);
    expect(changes.some(({ listChanged }) => listChanged)).toBe(true);
  }
});

test("writes from before the subscription and writes of other owners are not reported (T14)", async () => {
  const feed = await openFeed();
  await feed.start("old");
  await feed.start("theirs", "another");
  await vi.advanceTimersByTimeAsync(1);
  const stop = feed.watch();
  onTestFinished(stop);
  expect(await feed.receivedAfter(2)).toEqual([]);
  await feed.beat("theirs", 50);
  await feed.finish("theirs");
  await feed.start("another of theirs", "another");
  expect(await feed.receivedAfter(2)).toEqual([]);
  await feed.beat("old", 50);
  expect(await feed.receivedAfter(1)).toEqual(changed("old", false, false));
});

test("a write that is dated before the last poll and commits after it is reported", async () => {
  const feed = await openFeed();
  const stop = feed.watch();
  onTestFinished(stop);
  const dated = Date.now();
  await feed.receivedAfter(3);
  await feed.start("late", "local", dated);
  expect(await feed.receivedAfter(1)).toEqual(changed("late", false, true));
  expect(await feed.receivedAfter(3)).toEqual([]);
});

test("the store is polled only while there is a subscriber, and no timer is left", async () => {
  const feed = await openFeed();
  const others = vi.getTimerCount();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(feed.reads()).toBe(0);
  const stop = feed.watch();
  await feed.receivedAfter(2);
  stop();
  const reads = feed.reads();
  await feed.start("unreceived");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(feed.reads()).toBe(reads);
  expect(vi.getTimerCount()).toBe(others);
});

test("a store that cannot be read reports nothing and is polled again", async () => {
  let reads = 0;
  const received: RunChanges[] = [];
  const database = async () => {
    reads += 1;
    throw new Error("no store");
  };
  const stop = watchRuns({ database, notifications: async () => undefined, clock, owner: "local" }, (changes) =>
    received.push(changes),
  );
  onTestFinished(stop);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(reads).toBeGreaterThan(1);
  expect(received).toEqual([]);
});
