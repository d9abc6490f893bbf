/** The ledger through the life of a start: reserved with its intent, settled, released or reserved again. */

import { expect, test } from "vitest";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";
import { ERROR, intended, NOW, restart } from "../../../test/kit/store/stored-start.ts";
import type { Database } from "../../store/database.ts";
import { adoptInteractionId, saveInteractionId } from "../interaction-store.ts";
import { finishAgentRun, recordLateUsage } from "../poll/poll-result-store.ts";
import { deleteRun } from "../deletion/deletion-store.ts";
import { recordStartFailure } from "../start/start-store.ts";
import { finishRun } from "../run-store.ts";
import { dayNumber, readSpending, saveEntries } from "./ledger-store.ts";

const DAY = dayNumber(NOW);
const estimate = { usd: { min: 1, likely: 2, max: 3 } };
const cost = { usd: 1.234_567_8, incomplete: false, estimated: false };
const tokens = { input: 1, output: 2 };

const start = (db: Database, joinKey: string) => intended(db, { joinKey, estimate });
const accept = (db: Database, { attemptId }: { attemptId: string }, interactionId: string) =>
  saveInteractionId(db, { attemptId, interactionId, now: NOW });
const rows = (db: Database) =>
  db.selectFrom("ledger").select(["state", "reserved_micros", "cost_micros", "micros"]).orderBy("entry_id").execute();
const spent = async (db: Database) =>
  (await readSpending(db, { fromDay: DAY, untilDay: DAY })).map(({ requests, usd, reservedUsd }) => ({
    requests,
    usd,
    reservedUsd,
  }));

const RESERVED = { state: "reserved", reserved_micros: 3_000_000, cost_micros: null, micros: 3_000_000 };
const SETTLED = { state: "settled", reserved_micros: 3_000_000, cost_micros: 1_234_568, micros: 1_234_568 };
const RELEASED = { state: "released", reserved_micros: 3_000_000, cost_micros: null, micros: 0 };

/** Of a run that is not stored. */
const SEARCH = {
  taskId: "00000000-0000-4000-8000-000000000001",
  owner: "local",
  keyFingerprint: undefined,
  model: undefined,
  kind: "search" as const,
  isConfirmed: false,
  maxUsd: 0.25,
  at: NOW,
};

test("a start is reserved at its upper bound with its intent, and settled with the usage of its end (P6)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const { taskId, attemptId } = await start(db, "a");
  expect(await db.selectFrom("ledger").selectAll().execute()).toEqual([
    {
      entry_id: attemptId,
      task_id: taskId,
      owner: "local",
      key_fingerprint: "a-key",
      model: "an-agent",
      kind: "research",
      confirmed: 0,
      day: DAY,
      created_at: NOW,
      settled_at: null,
      incomplete: 0,
      estimated: 0,
      warned: null,
      schedule_id: null,
      interaction_id: null,
      base_url: null,
      ...RESERVED,
    },
  ]);
  await accept(db, { attemptId }, "v1_a");
  const run = {
    taskId,
    interactionId: "v1_a",
    createdAt: NOW,
    part: "question" as const,
    cancelRequestedAt: undefined,
  };
  await finishAgentRun(db, { run, to: "failed", usageFinal: false, now: NOW });
  expect(await rows(db)).toEqual([RESERVED]);
  await recordLateUsage(db, run, { tokens, cost, now: NOW + 1 });
  expect(await rows(db)).toEqual([SETTLED]);
  expect(await spent(db)).toEqual([{ requests: 1, usd: 1.234_568, reservedUsd: 0 }]);
});

test("a start that cost nothing is released, one whose outcome is unknown stays reserved until its id is known (P6)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const refused = await start(db, "refused");
  await recordStartFailure(db, { ...refused, to: "failed", error: ERROR, now: NOW });
  expect(await rows(db)).toEqual([RELEASED]);
  expect(await spent(db)).toEqual([]);
  // Google had accepted it after all.
  await accept(db, refused, "v1_late");
  expect(await rows(db)).toEqual([RESERVED]);

  const unknown = await start(db, "unknown");
  await recordStartFailure(db, { ...unknown, to: "start_unknown", error: ERROR, now: NOW });
  expect(await spent(db)).toEqual([{ requests: 2, usd: 6, reservedUsd: 6 }]);
  expect(await restart(db, unknown.taskId)).toBeDefined();
  expect(await spent(db)).toMatchObject([{ requests: 3 }]);
});

test("a wrongly adopted interaction takes its cost with it, and a second interaction of a start counts too (P6, Q1)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const [one, other] = [await start(db, "one"), await start(db, "other")];
  for (const each of [one, other])
    await recordStartFailure(db, { ...each, to: "start_unknown", error: ERROR, now: NOW });
  const adoption = { taskId: one.taskId, interactionId: "v1_other", deadlineAt: NOW + 9_000, now: NOW };
  expect(await adoptInteractionId(db, adoption)).toBe(true);
  await recordLateUsage(db, { taskId: one.taskId, interactionId: "v1_other" }, { tokens, cost, now: NOW });
  expect((await rows(db)).filter(({ state }) => state === "settled")).toEqual([SETTLED]);
  await accept(db, other, "v1_other");
  expect(await rows(db)).toEqual([RESERVED, RESERVED]);

  // The user adopts a wrong id, which no run has, before Google's own answer to this start arrives.
  await adoptInteractionId(db, { ...adoption, interactionId: "v1_wrong" });
  await accept(db, one, "v1_one");
  expect(await spent(db)).toEqual([{ requests: 3, usd: 9, reservedUsd: 9 }]);
});

test("a request whose usage was reported in part counts as what was reserved, or more (P6)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const incomplete = (usd: number | undefined) => ({ usd, incomplete: true, estimated: false });
  const partly = (usd: number | undefined) => ({ cost: incomplete(usd), isPartial: true, at: NOW });
  const entry = (entryId: string, usd: number | undefined) => ({ ...SEARCH, entryId, outcome: partly(usd) });
  await saveEntries(db, [entry("a", undefined), entry("b", 0.01), entry("c", 0.4)]);
  expect((await rows(db)).map(({ state, micros }) => [state, micros])).toEqual([
    ["settled", 250_000],
    ["settled", 250_000],
    ["settled", 400_000],
  ]);
});

test("a research without a price for what it used keeps counting what was reserved, or more (P6)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const unpriced = async (joinKey: string, usd: number | undefined): Promise<void> => {
    const started = await start(db, joinKey);
    await accept(db, started, `v1_${joinKey}`);
    const run = { taskId: started.taskId, interactionId: `v1_${joinKey}` };
    await recordLateUsage(db, run, { tokens, cost: { usd, incomplete: true, estimated: false }, now: NOW });
  };
  await unpriced("none", undefined);
  await unpriced("some", 0.5);
  await unpriced("more", 4);
  const settled = (await rows(db)).filter(({ state }) => state === "settled");
  expect(settled.map(({ micros }) => micros).toSorted((one, other) => one - other)).toEqual([
    3_000_000, 3_000_000, 4_000_000,
  ]);
});

test("a request counts even if its run was never stored, and if the run has ended already (P6)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const settled = { ...SEARCH, entryId: "a", outcome: { cost: { ...cost, usd: 0.1 }, at: NOW } };
  const end = {
    taskId: SEARCH.taskId,
    processId: "p",
    to: "completed",
    backend: "api",
    model: "m",
    tokens,
    cost,
  } as const;
  expect(await finishRun(db, { ...end, usageFinal: true, entries: [settled], now: NOW })).toBe(false);
  expect(await spent(db)).toEqual([{ requests: 1, usd: 0.1, reservedUsd: 0 }]);
  expect(await db.selectFrom("ledger").select("task_id").execute()).toEqual([{ task_id: null }]);
});

test("deleting a run does not lower what was spent (P6, T-2)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const { taskId, attemptId } = await start(db, "a");
  await accept(db, { attemptId }, "v1_a");
  const run = {
    taskId,
    interactionId: "v1_a",
    createdAt: NOW,
    part: "question" as const,
    cancelRequestedAt: undefined,
  };
  await finishAgentRun(db, { run, to: "completed", tokens, cost, usageFinal: true, now: NOW });
  expect(await deleteRun(db, { taskIds: [taskId], now: NOW })).toBe(true);
  expect(await spent(db)).toEqual([{ requests: 1, usd: 1.234_568, reservedUsd: 0 }]);
  expect(await db.selectFrom("ledger").select("task_id").execute()).toEqual([{ task_id: null }]);
});
