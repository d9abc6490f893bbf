/** The announcement of runs of schedules: none is lost to a shutdown, an error or another run. */

import { expect, test } from "vitest";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import { setClock } from "../../../test/kit/store/databases.ts";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { createWebhook } from "../../notifications/manage-webhooks.ts";
import { currentOf } from "../../runs/conversation-store.ts";
import { finishAgentRun } from "../../runs/poll/poll-result-store.ts";
import { saveResult } from "../../runs/result-store.ts";
import { announceEnd, untoldRuns } from "../../runs/schedules/announcement-store.ts";
import { insertSchedule, listSchedules } from "../../runs/schedules/schedule-store.ts";
import type { Database } from "../../store/database.ts";
import type { OperationDeps } from "../operation.ts";
import { announceEnded } from "./announce-ended.ts";
import { createScheduler } from "./start-due.ts";

const NOW = Date.parse("2027-01-04T12:00Z");

/** A schedule with finished runs, the oldest first. */
async function scheduled(db: Database, reports: Record<string, string>, owner = "local"): Promise<string> {
  const { scheduleId } = await insertSchedule(db, {
    owner,
    operation: "start_deep_research",
    input: { query: "How deep is the lake?" },
    rule: { every: "day", at: "07:00", time_zone: "UTC" },
    budgetUsd: 20,
    now: NOW,
  });
  for (const [index, [taskId, report]] of Object.entries(reports).entries()) {
    const ended = { status: "completed", created_at: NOW + index, completed_at: NOW + index };
    await insertRun(db, { task_id: taskId, schedule_id: scheduleId, owner, ...ended });
    const result = { report, sources: [], metadata: {}, partial: false };
    await db
      .transaction()
      .execute((transaction) => saveResult(transaction, { taskId, query: "?", isSearched: true, result, now: NOW }));
  }
  return scheduleId;
}

function openDeps(db: Database): { deps: OperationDeps; leave: () => void; lines: string[] } {
  const { deps, lines } = openApp();
  const leaving = new AbortController();
  return {
    lines,
    leave: () => leaving.abort(),
    deps: {
      ...deps,
      database: async () => db,
      findRun: (owner, taskId) => currentOf(db, owner, taskId),
      leaving: leaving.signal,
    },
  };
}

const notices = async (db: Database): Promise<unknown[]> =>
  db.selectFrom("notification_outbox").select(["task_id", "kind"]).orderBy("outbox_id").execute();

test("a comparison that a shutdown cuts short is made by the next process (O10)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  await scheduled(db, { one: "The lake is 40 metres deep.", two: "The lake is 45 metres deep." });
  const { deps, leave } = openDeps(db);
  const findRun: OperationDeps["findRun"] = (owner, taskId) => {
    if (taskId === "two") leave();
    return deps.findRun(owner, taskId);
  };
  await announceEnded({ ...deps, findRun }, new Set());
  expect(await notices(db)).toEqual([{ task_id: "one", kind: "completed" }]);
  await announceEnded(openDeps(db).deps, new Set());
  expect(await notices(db)).toEqual([
    { task_id: "one", kind: "completed" },
    { task_id: "two", kind: "changed" },
  ]);
});

test("a report that cannot be compared is announced as finished, and an unexpected error is logged (O10)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  await scheduled(db, { one: "The lake is 40 metres deep.", two: "The lake is 45 metres deep." });
  await db.updateTable("research_results").set({ sources_json: "{" }).where("task_id", "=", "one").execute();
  const { deps, lines } = openDeps(db);
  await announceEnded(deps, new Set());
  expect(await notices(db)).toEqual([
    { task_id: "one", kind: "completed" },
    { task_id: "two", kind: "completed" },
  ]);
  expect(lines).toEqual([expect.stringContaining("Unexpected error")]);
});

test("a clock that was set back mutes no run, and each is compared with the one announced before it (O10)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const depth = (metres: number): string => `The lake is ${metres} metres deep.`;
  await scheduled(db, { one: depth(40), two: depth(45), three: depth(50) });
  const announced = new Set<string>();
  for (const [index, taskId] of ["one", "two", "three"].entries()) {
    // A day earlier each time.
    const created_at = NOW - index * 86_400_000;
    await db.updateTable("research_tasks").set({ created_at }).where("task_id", "=", taskId).execute();
    announced.add(taskId);
    const rest = db.updateTable("research_tasks").where("task_id", "not in", [...announced]);
    await rest.set({ status: "running_async" }).execute();
    await db.updateTable("research_tasks").where("task_id", "=", taskId).set({ status: "completed" }).execute();
    await announceEnded(openDeps(db).deps, new Set());
  }
  const rows = db.selectFrom("notification_outbox").select(["task_id", "payload_json"]).orderBy("outbox_id");
  expect(await rows.execute()).toMatchObject([
    { task_id: "one", payload_json: expect.stringContaining("finished") },
    { task_id: "two", payload_json: expect.stringContaining("45 metres deep. (was: 40") },
    { task_id: "three", payload_json: expect.stringContaining("50 metres deep. (was: 45") },
  ]);
});

test("a run that failed, and whose report arrives after all, is announced by what changed, too (O10, Q1)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  await scheduled(db, { one: "The lake is 40 metres deep.", two: "The lake is" });
  await db.updateTable("research_tasks").set({ status: "failed" }).where("task_id", "=", "two").execute();
  await announceEnded(openDeps(db).deps, new Set());
  const run = { taskId: "two", interactionId: "v1_two", createdAt: NOW + 1, part: "question" } as const;
  const result = { report: "The lake is 45 metres deep.", sources: [], metadata: {}, partial: false };
  const finish = { run: { ...run, cancelRequestedAt: undefined }, result, usageFinal: true, now: NOW + 60_000 };
  expect(await finishAgentRun(db, { ...finish, to: "completed" })).toBe(true);
  await announceEnded(openDeps(db).deps, new Set());
  await announceEnded(openDeps(db).deps, new Set());
  expect(await notices(db)).toEqual([
    { task_id: "one", kind: "completed" },
    { task_id: "two", kind: "failed" },
    { task_id: "two", kind: "changed" },
  ]);
});

test("runs of one schedule that are announced at once are announced in an order (O10)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const ids = Array.from({ length: 8 }, (_, n) => `run-${n}`);
  await scheduled(db, Object.fromEntries(ids.map((id) => [id, "The lake is 40 metres deep."])));
  const untold = await untoldRuns(db);
  await Promise.all(
    untold.map(async (one) => {
      const run = await currentOf(db, one.owner, one.taskId);
      await announceEnd(db, { ...one, run, changes: undefined, now: NOW });
    }),
  );
  const rows = await db.selectFrom("research_tasks").select("announced").orderBy("announced").execute();
  expect(rows.map(({ announced }) => announced)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("the notification names the first changes, and counts the others and the sources (O10)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const towns = ["Bergen", "Oslo", "Tromsø", "Hamar"].map(
    (town, at) => `The town of ${town} has ${at + 3}1 libraries.`,
  );
  await scheduled(db, {
    one: "The lake is 40 metres deep. Fishing with nets was forbidden there.",
    two: ["The lake is 45 metres deep.", ...towns].join(" "),
  });
  const source = (name: string) => ({ title: name, url: `https://${name}.example/`, domain: `${name}.example` });
  const store = (taskId: string, names: string[]) =>
    db
      .updateTable("research_results")
      .set({ sources_json: JSON.stringify(names.map((name, at) => ({ n: at + 1, ...source(name) }))) })
      .where("task_id", "=", taskId)
      .execute();
  await store("one", ["a", "gone"]);
  await store("two", ["a", "b", "c"]);
  await announceEnded(openDeps(db).deps, new Set());
  const rows = await db.selectFrom("notification_outbox").selectAll().where("kind", "=", "changed").execute();
  expect(rows.map(({ payload_json: payload }) => JSON.parse(payload))).toEqual([
    {
      title: "What Changed",
      body: `two: The lake is 45 metres deep. (was: 40 metres) · New: ${towns[0]} · New: ${towns[1]} · +2 new, 1 gone, 2 new sources, 1 source gone`,
    },
  ]);
});

test("a run that cannot be announced delays no other, keeps no worker busy, and is announced later (O10, I19)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  await scheduled(db, { bad: "The lake is 40 metres deep." });
  await scheduled(db, { good: "The lake is 45 metres deep." });
  await db.updateTable("research_tasks").set({ options_json: "{" }).where("task_id", "=", "bad").execute();
  const { deps, lines } = openDeps(db);
  const scheduler = createScheduler(deps);
  expect(await scheduler.isBusy()).toBe(true);
  for (let round = 0; round < 3; round += 1) await scheduler.sweep();
  expect(await notices(db)).toEqual([{ task_id: "good", kind: "completed" }]);
  expect(lines).toEqual([expect.stringContaining("Unexpected error")]);
  expect(await scheduler.isBusy()).toBe(false);
  await db.updateTable("research_tasks").set({ options_json: "{}" }).where("task_id", "=", "bad").execute();
  await scheduler.sweep();
  expect(await notices(db)).toEqual([
    { task_id: "good", kind: "completed" },
    { task_id: "bad", kind: "completed" },
  ]);
});

test("the owner of a schedule is told once, by their webhooks, that a run does not start (I19, O4)", async () => {
  const later = NOW + 2 * 86_400_000;
  const db = await openDatabase({ stoppedAt: NOW });
  const schedule_id = await scheduled(db, { last: "The lake is 40 metres deep." }, "anna");
  await db.updateTable("research_tasks").set({ status: "start_unknown" }).execute();
  for (const owner of ["anna", "ben"]) {
    const webhook = { url: "http://127.0.0.1:9/", events: ["research.failed"] };
    await createWebhook(db, webhook, { owner, isPrivate: true, now: NOW });
  }
  await setClock(db, later);
  const { deps } = openDeps(db);
  const processes = [1, 2].map(() => createScheduler({ ...deps, clock: { ...deps.clock, now: () => later } }));
  for (let round = 0; round < 3; round += 1) await Promise.all(processes.map((process) => process.sweep()));
  const [told, ...others] = await db.selectFrom("notification_outbox").selectAll().execute();
  expect(others).toEqual([]);
  expect(JSON.parse(told?.payload_json ?? "")).toEqual({
    name: "research.failed",
    at: later,
    data: {
      schedule_id,
      title: "How deep is the lake?",
      message: "It waits: its last run has not ended, or it is unknown whether it was started.",
    },
  });
  expect((await listSchedules(db, "anna"))[0]).toMatchObject({ problem: "unfinished" });
});
