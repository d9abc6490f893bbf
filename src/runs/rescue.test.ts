import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { FINISHED, follow, openStage, request, WORKING } from "../../test/support/research-deps.ts";
import { insertAttempt, insertRun } from "../../test/support/store-rows.ts";
import { findResult } from "./result-store.ts";
import { findRun } from "./run-store.ts";
import { createRunner } from "./runner.ts";
import { startResearch } from "./start.ts";
import { waitFor } from "../../test/support/wait-for.ts";

test("P5: an id that the database refuses is kept aside, its report saved and told, and the run ends as it should", async (t) => {
  const { directory, store, saved, told, refuseWrites, allowWrites, deps } = await openStage(t);
  const research = deps({
    begin: async () => {
      await refuseWrites();
      return { kind: "accepted", interactionId: FINISHED.id };
    },
  });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  expect(readFileSync(join(directory, "orphans.jsonl"), "utf8")).toContain(FINISHED.id);
  follow(research);
  await waitFor(() => expect(saved).toEqual(["# The whole report"]));
  expect(told).toEqual([`${started.taskId.slice(0, 8)}: saved to /somewhere/${started.taskId}.md`]);
  expect((await findRun(store.db, "local", started.taskId)).status).toBe("pending");
  await allowWrites();
  await waitFor(async () => expect((await findRun(store.db, "local", started.taskId)).status).toBe("completed"));
  expect((await findResult(store.db, started.taskId))?.report).toBe("# The whole report");
  expect(existsSync(join(directory, "orphans.jsonl"))).toBe(false);
  expect(saved).toHaveLength(1);
});

test("P5: an id that no file would take either is written as soon as the database can be", async (t) => {
  const { directory, store, refuseWrites, allowWrites, deps } = await openStage(t);
  const research = {
    ...deps({
      begin: async () => {
        await refuseWrites();
        return { kind: "accepted", interactionId: FINISHED.id };
      },
    }),
    stateDir: "/proc/nowhere",
  };
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  await allowWrites();
  follow({ ...research, stateDir: directory });
  await waitFor(async () => expect((await findRun(store.db, "local", started.taskId)).status).toBe("completed"));
});

test("P5: a run that was followed when the disk filled up is saved once and recorded later", async (t) => {
  const { store, saved, refuseWrites, allowWrites, deps } = await openStage(t);
  let ready = false;
  const research = deps({ look: async () => ({ kind: "found", interaction: ready ? FINISHED : WORKING }) });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  follow(research);
  await refuseWrites();
  ready = true;
  await waitFor(() => expect(saved).toEqual(["# The whole report"]));
  await allowWrites();
  await waitFor(async () => expect((await findRun(store.db, "local", started.taskId)).status).toBe("completed"));
  expect(saved).toHaveLength(1);
});

/** Two runs that are not due; a round is made when it is told to. */
async function openRounds(t: TestContext) {
  const stage = await openStage(t);
  let now = Date.UTC(2026, 0, 1);
  let goOn: (() => void) | undefined;
  const due = { next_poll_at: now + 60_000 };
  for (const task_id of ["first", "second"]) await insertRun(stage.store.db, { task_id, ...due });
  const looked: string[] = [];
  const look = async (id: string) => {
    looked.push(id);
    return { kind: "found" as const, interaction: FINISHED };
  };
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: () => new Promise<void>((resolve) => void (goOn = resolve)),
  };
  const runner = createRunner({
    deps: { ...stage.deps({ look }), clock },
    pollIntervalMs: 1_000,
    maxRps: 5,
    deliver: async () => 0,
  });
  const round = async (): Promise<void> => {
    now += 5_000;
    const next = goOn ?? runner.start;
    goOn = undefined;
    next();
    await waitFor(() => expect(goOn).toBeDefined());
  };
  /** There is something to write in the next round: the end of a start whose process is gone. */
  const refuse = async (): Promise<void> => {
    const task_id = randomUUID();
    await insertRun(stage.store.db, { task_id, status: "pending", interaction_id: null, lease_owner: "gone" });
    await insertAttempt(stage.store.db, { attempt_id: randomUUID(), task_id });
    await stage.refuseWrites();
  };
  return { ...stage, looked, round, refuse };
}

test("P5: one round that the database refuses is no reason to ask Google out of turn, however often that happens", async (t) => {
  const { refuse, allowWrites, round, looked, saved, told } = await openRounds(t);
  for (const _ of [1, 2]) {
    await refuse();
    await round();
    await allowWrites();
    await round();
  }
  expect({ looked, saved, told }).toEqual({ looked: [], saved: [], told: [] });
});

test("P5: a database that refuses for good: reports are saved", async (t) => {
  const { refuse, allowWrites, round, looked, saved } = await openRounds(t);
  await refuse();
  await round();
  expect(looked).toEqual([]);
  await round();
  expect(looked.toSorted()).toEqual(["v1_first", "v1_second"]);
  expect(saved).toHaveLength(2);
  await allowWrites();
});

test("P5: an id whose attempt the database does not know is kept in memory: it is another database", async (t) => {
  const { deps } = await openStage(t);
  const looked: string[] = [];
  const research = deps({
    look: async (id) => {
      looked.push(id);
      return { kind: "found", interaction: WORKING };
    },
  });
  const unsaved = { taskId: "elsewhere", attemptId: "unknown", query: "q", interactionId: "v1_paid" };
  research.unsaved.set("elsewhere", { ...unsaved, enableNotifications: false });
  follow(research);
  await waitFor(() => expect(looked).toContain("v1_paid"));
  expect(research.unsaved.has("elsewhere")).toBe(true);
});
