/** Poll jobs on a real PostgreSQL: when a job exists, which process executes it, and what it must not do. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { AppError } from "../../src/errors.ts";
import type { PollResult } from "../../src/gemini/research-agent.ts";
import { reopen } from "../../src/runs/poll/poll-result-store.ts";
import { saveInteractionId } from "../../src/runs/interaction-store.ts";
import { pollKeyOf } from "../../src/store/processes.ts";
import { ask } from "../kit/store/databases.ts";
import { openFleet } from "../kit/store/fleet.ts";
import { FINISHED, WORKING } from "../kit/store/runner.ts";
import { insertAttempt, insertRun, rowOf } from "../kit/store/store-rows.ts";
import { INTENT, intended } from "../kit/store/stored-start.ts";
import { waitFor } from "../kit/wait-for.ts";

const SOON = { interval: 100 };
const ABORTED: PollResult = {
  kind: "unreachable",
  error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "aborted" }),
};
/** The maximum rate over any five seconds: on a busy machine polls are sent later than their permits, in bursts. */
const busiestRate = (times: number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 5_000).length)) / 5;
const working = async (): Promise<PollResult> => ({ kind: "found", interaction: WORKING });

test("a poll is scheduled for a run that is answered, adopted or reopened (Q1)", async () => {
  const { db, open, scheduled } = await openFleet();
  const queue = await open("k", false);
  const [adopted, reopened] = [randomUUID(), randomUUID()];
  await insertRun(db, { task_id: adopted, status: "start_unknown", interaction_id: null });
  await insertRun(db, { task_id: reopened, status: "failed" });
  await insertAttempt(db, { attempt_id: "adopted", task_id: adopted, state: "unknown", key_fingerprint: "k" });
  await saveInteractionId(db, { attemptId: "adopted", interactionId: "v1_new", now: 5 }, queue);
  await reopen(db, reopened, { now: 5, deadlineAt: 9, queue });
  expect(await scheduled()).toEqual([adopted, reopened].toSorted());
  expect(await rowOf(db, adopted)).toMatchObject({ poll_key: pollKeyOf({ key: "k", baseUrl: "" }) });
});

test("a start that its process did not finish is found within a minute of its lease; one that is leased is left (I10)", async () => {
  const { db, worker, repairNow } = await openFleet();
  const intend = async (joinKey: string): Promise<string> => {
    const elsewhere = { ...INTENT, joinKey, processId: "elsewhere", now: Date.now() };
    return (await intended(db, elsewhere)).taskId;
  };
  const row = { host: "another machine", pid: 1, start_mark: null, started_at: 1, seen_at: Date.now(), poll_key: null };
  await db
    .insertInto("processes")
    .values({ process_id: "elsewhere", ...row })
    .execute();
  const [lost, held] = [await intend("lost"), await intend("held")];
  await db.updateTable("research_tasks").set({ lease_until: 1 }).where("task_id", "=", lost).execute();
  await worker();
  await repairNow();
  await waitFor(async () => expect(await rowOf(db, lost)).toMatchObject({ status: "start_unknown" }), SOON);
  expect(await rowOf(db, held)).toMatchObject({ status: "pending" });
});

describe("workers", () => {
  test("poll every run once per interval together, and a run that ends has no job (P7)", async () => {
    const fleet = await openFleet();
    const ids = await fleet.insertRuns(20);
    const polls: { id: string; at: number }[] = [];
    const poll = async (id: string): Promise<PollResult> => {
      polls.push({ id, at: Date.now() });
      return working();
    };
    const options = { poll, intervalMs: 2_000 };
    await fleet.worker(options);
    await fleet.worker(options);
    await waitFor(() => expect(polls.length).toBeGreaterThanOrEqual(80), SOON);
    expect(await fleet.scheduled()).toEqual(ids.toSorted());
    const gaps = [...Map.groupBy(polls, ({ id }) => id).values()].flatMap((ofRun) =>
      ofRun.slice(1).map(({ at }, n) => at - (ofRun[n]?.at ?? 0)),
    );
    expect(Math.min(...gaps)).toBeGreaterThan(1_800);
  });

  test("collect a finished run once, and leave nothing of it in the queue (P7)", async () => {
    const fleet = await openFleet();
    const [taskId = ""] = await fleet.insertRuns(1);
    await fleet.worker({ poll: async () => ({ kind: "found", interaction: FINISHED }) });
    await waitFor(async () => {
      expect(await rowOf(fleet.db, taskId)).toMatchObject({ status: "completed", next_poll_at: null });
      expect(await fleet.scheduled()).toEqual([]);
    }, SOON);
  });

  test("write nothing when a poll of a run shows nothing new (P7)", async () => {
    const fleet = await openFleet();
    const [taskId = ""] = await fleet.insertRuns(1);
    let polls = 0;
    const poll = async (): Promise<PollResult> => {
      polls += 1;
      return { kind: "found", interaction: { ...WORKING, usage: undefined, thoughts: ["Reading"] } };
    };
    await fleet.worker({ poll });
    await waitFor(() => expect(polls).toBeGreaterThan(2), SOON);
    const [before] = await ask<{ ctid: string }>(fleet.url, `select ctid::text from research_tasks`);
    const seen = polls;
    await waitFor(() => expect(polls).toBeGreaterThan(seen + 3), SOON);
    expect(await ask(fleet.url, `select ctid::text from research_tasks`)).toEqual([before]);
    expect(await rowOf(fleet.db, taskId)).toMatchObject({ current_action: "Reading" });
  });

  test("give a slow answer a second, longer poll, and others are not late for it (P7)", async () => {
    const fleet = await openFleet();
    const [slow = "", ...others] = await fleet.insertRuns(4);
    const polls = new Map<string, number>();
    const poll = async (id: string, signal: AbortSignal): Promise<PollResult> => {
      polls.set(id, (polls.get(id) ?? 0) + 1);
      if (id !== `v1_${slow}`) return working();
      await once(AbortSignal.any([signal, AbortSignal.timeout(4_000)]), "abort");
      if (signal.aborted) return ABORTED;
      return { kind: "found", interaction: FINISHED };
    };
    await fleet.worker({ poll });
    await waitFor(async () => expect(await rowOf(fleet.db, slow)).toMatchObject({ status: "completed" }), SOON);
    for (const id of others) expect(polls.get(`v1_${id}`)).toBeGreaterThan(3);
  });

  test("release the polls in flight when they shut down, and another continues at once (A8)", async () => {
    const fleet = await openFleet();
    const ids = await fleet.insertRuns(3);
    const hanging = async (_: string, signal: AbortSignal): Promise<PollResult> => {
      await once(signal, "abort");
      return ABORTED;
    };
    let asked = 0;
    const first = await fleet.worker({
      poll: async (id, signal) => {
        asked += 1;
        return hanging(id, signal);
      },
    });
    await waitFor(() => expect(asked).toBeGreaterThan(0), SOON);
    await first.leave();
    expect(await fleet.scheduled()).toEqual(ids.toSorted());
    const polled = new Set<string>();
    await fleet.worker({
      poll: async (id) => {
        polled.add(id);
        return working();
      },
    });
    await waitFor(() => expect(polled.size).toBe(3), { interval: 50 });
  });
});

test("a small owner is polled in time beside a large one, and the rate of all workers is kept (P7)", async () => {
  const fleet = await openFleet();
  const [intervalMs, maxRps] = [4_000, 20];
  const few = await fleet.insertRuns(8, { owner: "few" });
  await fleet.insertRuns(300, { owner: "many" });
  const polls: { id: string; at: number }[] = [];
  const poll = async (id: string): Promise<PollResult> => {
    polls.push({ id, at: Date.now() });
    return working();
  };
  await Promise.all([1, 2].map(() => fleet.worker({ poll, intervalMs, maxRps })));
  const until = Date.now() + 30_000;
  await waitFor(() => expect(Date.now()).toBeGreaterThan(until), { timeout: 40_000, interval: 500 });
  const times = polls.map(({ at }) => at);
  expect(busiestRate(times)).toBeLessThanOrEqual(maxRps * 1.1);
  expect(times.length).toBeGreaterThan(30 * maxRps * 0.4);
  const gaps = few
    .flatMap((id) => {
      const ofRun = polls.filter((poll) => poll.id === `v1_${id}`);
      return ofRun.slice(1).map(({ at }, n) => at - (ofRun[n]?.at ?? 0));
    })
    .toSorted((one, other) => one - other);
  expect(gaps.length).toBeGreaterThanOrEqual(8 * 4);
  expect(gaps[Math.floor(gaps.length / 2)]).toBeLessThanOrEqual(intervalMs * 1.3);
});

test("runs that Google no longer knows end after three polls, within the rate (P3, P7)", async () => {
  const fleet = await openFleet();
  const ids = await fleet.insertRuns(8);
  // Google keeps an interaction for a day at least.
  await fleet.db
    .updateTable("research_tasks")
    .set({ created_at: Date.now() - 86_400_000 })
    .execute();
  const times: number[] = [];
  const poll = async (): Promise<PollResult> => {
    times.push(Date.now());
    return { kind: "missing" };
  };
  await fleet.worker({ poll, maxRps: 10 });
  await waitFor(
    async () => {
      for (const id of ids) expect(await rowOf(fleet.db, id)).toMatchObject({ status: "failed", next_poll_at: null });
    },
    { timeout: 50_000, interval: 500 },
  );
  expect(times).toHaveLength(8 * 4);
  expect(busiestRate(times)).toBeLessThanOrEqual(11);
});

describe("in a fleet with several keys, a run", () => {
  test("is polled by a process that has its key, and by no other; a 429 pauses that key only (P3)", async () => {
    const fleet = await openFleet();
    const [ours = ""] = await fleet.insertRuns(1);
    const [theirs = ""] = await fleet.insertRuns(1, { key: "another" });
    const polls: Record<string, string[]> = { k: [], another: [] };
    const poll =
      (key: string) =>
      async (id: string): Promise<PollResult> => {
        polls[key]?.push(id);
        return key === "another" ? { kind: "rate_limited", retryAfterMs: 60_000 } : working();
      };
    await fleet.worker({ poll: poll("k") });
    await fleet.worker({ poll: poll("another"), key: "another" });
    await waitFor(() => expect(polls["k"]?.length).toBeGreaterThan(6), SOON);
    expect(new Set(polls["k"])).toEqual(new Set([`v1_${ours}`]));
    expect(polls["another"]).toEqual([`v1_${theirs}`]);
  });

  /** Two runs, the second past its deadline. */
  async function openKeyless() {
    const fleet = await openFleet();
    const [waiting = "", late = ""] = await fleet.insertRuns(2, { key: "unused-key" });
    for (const task_id of [waiting, late]) {
      const attempt = { attempt_id: `of ${task_id}`, task_id, state: "accepted", interaction_id: `v1_${task_id}` };
      await insertAttempt(fleet.db, { ...attempt, key_fingerprint: "unused-key", base_url: "" });
    }
    await fleet.db.updateTable("research_tasks").set({ deadline_at: 5 }).where("task_id", "=", late).execute();
    return { fleet, waiting, late };
  }

  test("whose key no process has waits with a note, and ends at its deadline (P3)", async () => {
    const { fleet, waiting, late } = await openKeyless();
    await fleet.worker();
    await fleet.repairNow();
    await waitFor(async () => {
      expect(await rowOf(fleet.db, waiting)).toMatchObject({
        status: "running_async",
        obstacle: "other_key",
      });
      expect(await rowOf(fleet.db, late)).toMatchObject({ status: "failed" });
    }, SOON);
  });

  test("whose key no process has is polled with another key before it ends (P3)", async () => {
    const { fleet, late } = await openKeyless();
    await fleet.worker({ poll: async () => ({ kind: "found", interaction: FINISHED }) });
    await fleet.repairNow();
    await waitFor(async () => expect(await rowOf(fleet.db, late)).toMatchObject({ status: "completed" }), SOON);
  });

  test("that ended at its deadline is collected as soon as a process has its key, hours later, too (P3)", async () => {
    const { fleet, waiting, late } = await openKeyless();
    await fleet.worker({ poll: async () => ({ kind: "missing" }) });
    for (const taskId of [late, waiting]) {
      const run = fleet.db.updateTable("research_tasks").where("task_id", "=", taskId);
      await run.set({ deadline_at: 5 }).execute();
      await fleet.repairNow();
      await waitFor(async () => expect(await rowOf(fleet.db, taskId)).toMatchObject({ status: "failed" }), SOON);
      await run.set({ completed_at: Date.now() - 4 * 3_600_000 }).execute();
    }
    await fleet.worker({ key: "unused-key", poll: async () => ({ kind: "found", interaction: FINISHED }) });
    await waitFor(async () => expect(await rowOf(fleet.db, late)).toMatchObject({ status: "completed" }), SOON);
  });
});
