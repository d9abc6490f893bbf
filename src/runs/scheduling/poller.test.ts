/** The poller on the table of runs: what one run may do to the others of its batch, and the rate of all. */

import { expect, test } from "vitest";
import { follow, openRunner, WORKING } from "../../../test/kit/store/runner.ts";
import { insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import { AppError } from "../../errors.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import { systemClock } from "../../platform/clock.ts";
import type { ResearchDeps } from "../deps.ts";
import { isShared } from "../../store/dialect.ts";
import { createTableEngine } from "../engine/table-engine.ts";
import { createPoller } from "./poller.ts";
import { createRunner } from "./runner.ts";

function onSystemClock(deps: ResearchDeps, processId: string): ResearchDeps {
  const { db, log, leaving } = deps;
  const queue = createTableEngine({ db, clock: systemClock, processId, log, leaving });
  return { ...deps, processId, clock: systemClock, queue };
}

const working = async (): Promise<PollResult> => ({ kind: "found", interaction: WORKING });

test("a run whose poll fails does not stop the others of its batch, and is polled again (P2)", async (context) => {
  const stage = await openRunner(context);
  for (const id of ["bad", "good 1", "good 2"]) await insertRun(stage.store.db, { task_id: id, next_poll_at: 1 });
  const polls = new Map<string, number>();
  const poll = async (id: string): Promise<PollResult> => {
    polls.set(id, (polls.get(id) ?? 0) + 1);
    if (id === "v1_bad") throw new Error("a bug");
    return working();
  };
  follow(stage.deps({ poll }));
  await waitFor(() => {
    for (const id of ["v1_bad", "v1_good 1", "v1_good 2"]) expect(polls.get(id)).toBeGreaterThan(2);
  });
});

test("a run whose row cannot be read does not stop the others of its batch, and stays scheduled (P2)", async (context) => {
  const { store, deps } = await openRunner(context);
  await insertRun(store.db, { task_id: "damaged", next_poll_at: 1, options_json: "{" });
  await insertRun(store.db, { task_id: "good", next_poll_at: 1 });
  const polls: string[] = [];
  const poll = async (id: string): Promise<PollResult> => {
    polls.push(id);
    return working();
  };
  const faults: unknown[] = [];
  const onFault = async (error: unknown): Promise<void> => void faults.push(error);
  await createPoller({
    deps: deps({ poll }),
    pollIntervalMs: 100,
    maxRps: 50,
    deliver: async () => 0,
    onFault,
  }).start();
  await waitFor(() => expect(polls.length).toBeGreaterThan(2));
  expect(new Set(polls)).toEqual(new Set(["v1_good"]));
  expect(faults).toEqual([]);
  await waitFor(async () => {
    const damaged = await rowOf(store.db, "damaged");
    expect(damaged).toMatchObject({ status: "running_async", lease_until: null });
    expect(damaged.next_poll_at).not.toBeNull();
  });
});

test("all polled runs are scheduled again on a shared database only (P2)", async (context) => {
  const { store, deps } = await openRunner(context);
  await insertRun(store.db, { task_id: "polled", next_poll_at: 1 });
  const onFault = async (): Promise<void> => {};
  const options = { pollIntervalMs: 100, maxRps: 50, deliver: async () => 0, onFault };
  const poller = createPoller({ deps: deps({ poll: working }), ...options });
  await poller.start();
  await poller.sweep();
  const permits = store.db.selectFrom("leases").select("lease_id").where("lease_id", "=", "repair");
  expect(await permits.execute()).toHaveLength(isShared(store.db) ? 1 : 0);
});

test.for(["failed", "cancelled"] as const)(
  "a poll of a %s run that Google does not answer is settled like any other (J3)",
  async (status, context) => {
    const { store, deps } = await openRunner(context);
    const deadline_at = systemClock.now() + 3_600_000;
    await insertRun(store.db, { task_id: "a", status, next_poll_at: 1, deadline_at });
    const error = new AppError({ code: "GEMINI_UNAVAILABLE", message: "away" });
    const stage = deps({ poll: async () => ({ kind: "unreachable", error }) });
    // By the fast clock, the next poll would soon hold the lease again.
    follow(onSystemClock(stage, store.processId));
    await waitFor(async () => {
      const row = await rowOf(store.db, "a");
      expect(row).toMatchObject({ status, lease_until: null });
      expect(row.next_poll_at).toBeGreaterThan(1);
    });
  },
);

test("polls of all processes together stay within 110 % of the rate, and near it (P4)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  for (let n = 0; n < 200; n += 1) await insertRun(db, { task_id: `run ${n}`, next_poll_at: 1 });
  const times: number[] = [];
  const poll = async (): Promise<PollResult> => {
    times.push(performance.now());
    return working();
  };
  for (const processId of [stage.store.processId, "another"]) {
    const deps = onSystemClock(stage.deps({ poll }), processId);
    createRunner({ deps, pollIntervalMs: 1_000, maxRps: 40, deliver: async () => 0 }).start();
  }
  await waitFor(() => expect(times.length).toBeGreaterThan(150), { timeout: 20_000, interval: 100 });
  // Two seconds, because a busy machine sends polls later than their permits, in bursts.
  const busiest = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 2_000).length));
  expect(busiest).toBeLessThanOrEqual(88);
  expect(busiest).toBeGreaterThanOrEqual(60);
});
