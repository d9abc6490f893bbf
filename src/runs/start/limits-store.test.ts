/** Start limits on both databases: a start above a limit is rejected before anything is stored. */

import { expect, onTestFinished, test } from "vitest";
import { openRunner, request } from "../../../test/kit/store/runner.ts";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { START_LIMITS, refuseAboveLimits, type StartLimits } from "./limits-store.ts";
import { resumeAgentRun } from "./resume.ts";
import { startResearch } from "./start.ts";

const refused = (limits: Partial<StartLimits>, owner = "ada") => ({
  limits: { ...START_LIMITS, ...limits },
  starter: { owner },
});

test("a start above the limit of unfinished research is refused; finished runs and searches do not count (T28)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "a", status: "completed" });
  await insertRun(db, { task_id: "b", status: "running", kind: "deep_search" });
  await insertRun(db, { task_id: "c", status: "start_unknown" });
  await insertRun(db, { task_id: "d", status: "pending" });
  const { limits, starter } = refused({ unfinished: 2 });
  await refuseAboveLimits(db, limits, starter);
  await insertRun(db, { task_id: "e", owner: "another" });
  await expect(refuseAboveLimits(db, limits, starter)).rejects.toMatchObject({
    code: "BUSY",
    message: "This server has reached its limit of 2 runs in progress. Nothing was started or charged.",
    suggestion: "Try again in 60 seconds.",
    details: { retry_after: 60 },
  });
});

test("users have a limit of their own, the operator has none (T28)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "a", owner: "ada" });
  await insertRun(db, { task_id: "b", owner: "local" });
  const { limits, starter } = refused({ perUser: 1 });
  await expect(refuseAboveLimits(db, limits, starter)).rejects.toMatchObject({
    code: "BUSY",
    message: expect.stringContaining("your limit of 1 run"),
  });
  await refuseAboveLimits(db, limits, { ...starter, owner: "grace" });
  await refuseAboveLimits(db, limits, { ...starter, owner: "local" });
});

test("a refused start is neither stored nor sent, a joined one is not refused, and of many at once one gets the last permit (T28)", async () => {
  const stage = await openRunner({ onTestFinished });
  let sent = 0;
  const agent = {
    start: async () => {
      sent += 1;
      return { kind: "accepted", interactionId: `v1_${sent}` } as const;
    },
  };
  const deps = { ...stage.deps(agent), limits: { ...START_LIMITS, unfinished: 2 } };
  const starts = Array.from({ length: 6 }, (_, n) => startResearch(deps, { ...request, query: `Question ${n}` }));
  const outcomes = await Promise.allSettled(starts);
  const started = outcomes.filter((outcome) => outcome.status === "fulfilled").map(({ value }) => value);
  for (const start of started) if (start.kind === "started") await start.sending;
  expect([started.length, sent]).toEqual([2, 2]);
  const query = `Question ${outcomes.findIndex(({ status }) => status === "fulfilled")}`;
  expect(await startResearch(deps, { ...request, query })).toMatchObject({ kind: "joined" });
  expect(await stage.store.db.selectFrom("research_tasks").select("task_id").execute()).toHaveLength(2);
});

test("a restart of an unknown start is limited like any start, and without a price reserves as much as before (T28)", async () => {
  const stage = await openRunner({ onTestFinished });
  const { db } = stage.store;
  const estimate_json = JSON.stringify({ usd: { min: 1, likely: 2, max: 3 } });
  const unknownStart = { status: "start_unknown", interaction_id: null, model: "an-agent", estimate_json } as const;
  await insertRun(db, { task_id: "unknown", ...unknownStart });
  await insertRun(db, { task_id: "other" });
  const deps = stage.deps();
  const unknown = { owner: "local", taskId: "unknown", newest: "unknown", interactionId: undefined };
  const restart = { ...unknown, acceptDoubleCharge: true };
  const busy = { ...deps, limits: { ...START_LIMITS, unfinished: 1 } };
  await expect(resumeAgentRun(busy, restart)).rejects.toMatchObject({ code: "BUSY" });
  const row = db.selectFrom("research_tasks").select("status").where("task_id", "=", "unknown");
  expect(await row.executeTakeFirst()).toEqual({ status: "start_unknown" });
  const resumed = await resumeAgentRun({ ...deps, limits: { ...START_LIMITS, unfinished: 2 } }, restart);
  expect(resumed.kind).toBe("restarted");
  if (resumed.kind === "restarted") await resumed.sending;
  expect(await db.selectFrom("ledger").select("reserved_micros").execute()).toEqual([{ reserved_micros: 3_000_000 }]);
});
