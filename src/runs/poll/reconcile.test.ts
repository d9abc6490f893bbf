/** What is asked again about reserved requests, what that settles, and why the others stay reserved. */

import { expect, test } from "vitest";
import { clock, FINISHED, openRunner, type Stage } from "../../../test/kit/store/runner.ts";
import { insertCost, insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { intended } from "../../../test/kit/store/stored-start.ts";
import type { Cost } from "../../costs/actual.ts";
import type { Agent, PollResult } from "../../gemini/research-agent.ts";
import { deleteRun } from "../deletion/deletion-store.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { reservedUnpolled } from "../ledger/reserved-store.ts";
import { reconcile } from "./reconcile.ts";

const FOUND: PollResult = { kind: "found", interaction: FINISHED };

/** A run that ended without usage, and is polled no longer. */
async function endedRun({ store: { db } }: Stage, name: string, agent: Pick<Agent, "fingerprint">): Promise<string> {
  const { key: keyFingerprint, baseUrl } = agent.fingerprint;
  const estimate = { usd: { max: 3 } };
  const start = await intended(db, { joinKey: name, query: name, estimate, keyFingerprint, baseUrl });
  await saveInteractionId(db, { attemptId: start.attemptId, interactionId: `v1_${name}`, now: clock.now() });
  await db
    .updateTable("research_tasks")
    .set({ status: "completed", next_poll_at: null, completed_at: clock.now() })
    .where("task_id", "=", start.taskId)
    .execute();
  return start.taskId;
}

interface Asking extends Partial<Agent> {
  cost?: Cost;
}

/** The outcomes, and the interactions that Google was asked about. */
async function reconciled(stage: Stage, { cost, poll = async () => FOUND, ...agent }: Asking = {}) {
  const asked: string[] = [];
  const counting: Agent["poll"] = (id, signal) => {
    asked.push(id);
    return poll(id, signal);
  };
  const deps = stage.deps({ ...agent, poll: counting });
  const costOf = cost === undefined ? deps.costOf : () => cost;
  const found = await reservedUnpolled(deps.db, clock.now());
  const { settled, reserved } = await reconcile({ ...deps, costOf, maxRps: 5 }, found);
  return { settled: settled.length, reserved: reserved.map(({ reason }) => reason), asked };
}

const rowsOf = ({ store: { db } }: Stage) =>
  db.selectFrom("ledger").select(["state", "micros", "interaction_id", "base_url"]).execute();

test("what used no known price stays reserved (P6)", async (context) => {
  const stage = await openRunner(context);
  await endedRun(stage, "a", stage.deps().agent);
  const cost = { usd: undefined, incomplete: true, estimated: false };
  expect(await reconciled(stage, { cost })).toMatchObject({ settled: 0, reserved: ["no_price"] });
  expect(await rowsOf(stage)).toMatchObject([{ state: "reserved", micros: 3_000_000 }]);
  expect(await reconciled(stage)).toMatchObject({ settled: 1, reserved: [] });
});

test("a run that a user reopens meanwhile is polled on (P6, I11)", async (context) => {
  const stage = await openRunner(context);
  const taskId = await endedRun(stage, "a", stage.deps().agent);
  const poll = async (): Promise<PollResult> => {
    await stage.store.db.updateTable("research_tasks").set({ next_poll_at: 7 }).execute();
    return FOUND;
  };
  expect(await reconciled(stage, { poll })).toMatchObject({ settled: 1 });
  expect(await rowOf(stage.store.db, taskId)).toMatchObject({ next_poll_at: 7, usage_final: 1 });
});

test("a run that is deleted meanwhile is not reported as settled, and is by the next call (P6, T-2)", async (context) => {
  const stage = await openRunner(context);
  const taskId = await endedRun(stage, "a", stage.deps().agent);
  const poll = async (): Promise<PollResult> => {
    await deleteRun(stage.store.db, { taskIds: [taskId], now: clock.now() });
    return FOUND;
  };
  expect(await reconciled(stage, { poll })).toMatchObject({ settled: 0, reserved: ["no_usage"] });
  expect(await reconciled(stage)).toMatchObject({ settled: 1, reserved: [] });
  expect(await rowsOf(stage)).toMatchObject([{ state: "settled", interaction_id: null, base_url: null }]);
});

test("Google is asked with the key and at the address of the start only, also about a deleted run (P6, T-2)", async (context) => {
  const stage = await openRunner(context);
  const { fingerprint } = stage.deps().agent;
  const taskId = await endedRun(stage, "a", { fingerprint });
  for (const isDeleted of [false, true]) {
    if (isDeleted) await deleteRun(stage.store.db, { taskIds: [taskId], now: clock.now() });
    for (const other of [{ key: "another" }, { baseUrl: "https://another.example" }]) {
      const answer = await reconciled(stage, { fingerprint: { ...fingerprint, ...other } });
      expect(answer).toEqual({ settled: 0, reserved: ["not_asked"], asked: [] });
    }
  }
  expect(await reconciled(stage)).toMatchObject({ settled: 1, asked: ["v1_a"] });
});

test("after a 429 nothing more is asked, by no process until Google allows it (P6, P4)", async (context) => {
  const stage = await openRunner(context);
  for (const name of ["a", "b"]) await endedRun(stage, name, stage.deps().agent);
  const poll = async (): Promise<PollResult> => ({ kind: "rate_limited", retryAfterMs: 60_000 });
  const first = await reconciled(stage, { poll });
  expect(first).toMatchObject({ reserved: ["not_asked", "not_asked"], asked: [expect.any(String)] });
  expect(await reconciled(stage)).toEqual({ settled: 0, reserved: ["not_asked", "not_asked"], asked: [] });
});

test("a run that was deleted at Google, too, keeps no id of it (P6, T-2)", async (context) => {
  const stage = await openRunner(context);
  const taskId = await endedRun(stage, "a", stage.deps().agent);
  await deleteRun(stage.store.db, { taskIds: [taskId], atGoogle: true, now: clock.now() });
  expect(await rowsOf(stage)).toEqual([{ state: "reserved", micros: 3_000_000, interaction_id: null, base_url: null }]);
  expect(await reconciled(stage)).toEqual({ settled: 0, reserved: ["deleted"], asked: [] });
});

test("requests that may be in progress are not listed as cut off (P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const now = clock.now();
  await insertRun(db, { task_id: "checked", status: "completed" });
  await insertRun(db, { task_id: "ended", status: "failed" });
  const insert = (task_id: string, kind: "search" | "judge", at: number) => insertCost(db, { task_id, kind, at });
  await insert("checked", "judge", now);
  await insert("not stored", "search", now);
  expect(await reconciled(stage)).toMatchObject({ reserved: [] });
  await insert("ended", "search", now);
  await insert("checked", "judge", now - 2 * 3_600_000);
  expect(await reconciled(stage)).toMatchObject({ reserved: ["cut_off", "cut_off"] });
});
