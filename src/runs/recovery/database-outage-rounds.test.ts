/** Rounds of the sweep while the database rejects writes. SQLite only: with pg-boss, Google keeps the reports. */

import { randomUUID } from "node:crypto";
import { expect, test, type TestContext } from "vitest";
import { FINISHED, openRunner } from "../../../test/kit/store/runner.ts";
import { insertAttempt, insertRun } from "../../../test/kit/store/store-rows.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import { createRunner } from "../scheduling/runner.ts";

/** Two runs that are not due; `round` runs the loop of the runner once. */
async function openRounds(t: TestContext) {
  const stage = await openRunner(t);
  let now = Date.UTC(2026, 0, 1);
  let goOn: (() => void) | undefined;
  const due = { next_poll_at: now + 60_000 };
  for (const task_id of ["first", "second"]) await insertRun(stage.store.db, { task_id, ...due });
  const polled: string[] = [];
  const poll = async (id: string) => {
    polled.push(id);
    return { kind: "found" as const, interaction: FINISHED };
  };
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: () => new Promise<void>((resolve) => void (goOn = resolve)),
  };
  const runner = createRunner({
    deps: { ...stage.deps({ poll }), clock },
    pollIntervalMs: 1_000,
    maxRps: 5,
    deliver: async () => 0,
    makesPolls: false,
  });
  const round = async (): Promise<void> => {
    now += 5_000;
    const next = goOn ?? runner.start;
    goOn = undefined;
    next();
    await waitFor(() => expect(goOn).toBeDefined());
  };
  /** Gives the next round something to write: the end of a start whose process is dead. */
  const refuse = async (): Promise<void> => {
    const task_id = randomUUID();
    await insertRun(stage.store.db, { task_id, status: "pending", interaction_id: null, lease_owner: "gone" });
    await insertAttempt(stage.store.db, { attempt_id: randomUUID(), task_id });
    await stage.refuseWrites();
  };
  return { ...stage, polled, round, refuse };
}

test("a single round that the database refuses causes no poll ahead of schedule, however often it happens (P5)", async (t) => {
  const { refuse, allowWrites, round, polled, saved, notified } = await openRounds(t);
  for (const _ of [1, 2]) {
    await refuse();
    await round();
    await allowWrites();
    await round();
  }
  expect({ polled, saved, notified }).toEqual({ polled: [], saved: [], notified: [] });
});

test("while the database refuses all writes, reports are saved as files (P5)", async (t) => {
  const { refuse, allowWrites, round, polled, saved } = await openRounds(t);
  await refuse();
  await round();
  expect(polled).toEqual([]);
  await round();
  expect(polled.toSorted()).toEqual(["v1_first", "v1_second"]);
  expect(saved).toHaveLength(2);
  await allowWrites();
});
