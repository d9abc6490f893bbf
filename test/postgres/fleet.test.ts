/**
 * Servers and workers as separate processes on one PostgreSQL: which one polls, and what remains when one is killed.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunningCommand } from "../kit/server/command.ts";
import { openResearch, type ResearchScene, SLOW, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

/** P2: another machine takes over within this time. */
const TAKE_OVER_MS = 60_000;
const DONE_MS = 30_000;
const WITHIN = { timeout: DONE_MS, interval: 250 };
const LEAVE_IT = { RESEARCH_MAX_RPS: "0" };

const startWorker = (scene: ResearchScene): RunningCommand => scene.startCommand(["worker"]);

const jobs = (scene: ResearchScene): string[] =>
  scene
    .sql<{ id: string }>("select singleton_key as id from gemini_search_jobs.job where name like 'poll-%' order by 1")
    .map(({ id }) => id);

/** Waits until this many runs have been polled from now on. */
async function untilPolled(scene: ResearchScene, count: number): Promise<void> {
  const since = Date.now();
  const starts = () => scene.gemini.ledger.acceptedStarts();
  const polled = () =>
    starts().filter(({ id }) => scene.gemini.ledger.trafficOf(id).polls.some((at) => at > since)).length;
  await waitFor(() => expect(polled()).toBe(count), { timeout: TAKE_OVER_MS, interval: 250 });
}

const startAll = (server: Parameters<typeof startRun>[0], name: string): Promise<string[]> =>
  Promise.all([1, 2, 3, 4].map((n) => startRun(server, `${name} question ${n}?`)));

describe("two servers and two workers", () => {
  test("share runs: one server starts, the other reports, a worker polls, and the other worker replaces a killed one (P2, I9)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const [one, two] = await Promise.all([scene.server({ env: LEAVE_IT }), scene.server({ env: LEAVE_IT })]);
    const runs = await startAll(one, "First");
    // No process polls: servers leave polling to workers.
    for (const task_id of runs) expect(await statusOf(two, task_id)).toMatchObject({ status: "running_async" });
    expect(jobs(scene)).toEqual(runs.toSorted());
    expect(scene.gemini.ledger.acceptedStarts().flatMap(({ id }) => scene.gemini.ledger.trafficOf(id).polls)).toEqual(
      [],
    );
    const first = startWorker(scene);
    await untilPolled(scene, 4);
    const second = startWorker(scene);
    await waitFor(() => expect(second.stderr()).toContain("Polling 4 unfinished"), WITHIN);

    const same = await Promise.all([one, two].map((server) => startRun(server, "The same question?")));
    expect(new Set(same).size).toBe(1);
    expect(scene.posts()).toBe(5);
    await untilPolled(scene, 5);

    first.child.kill("SIGKILL");
    await untilPolled(scene, 5);
    expect(jobs(scene)).toHaveLength(5);
    scene.gemini.skip(8 * 60_000);
    for (const task_id of [...runs, ...same]) await untilStatus(two, task_id, "completed", DONE_MS);
    expect([scene.posts(), scene.accepted()]).toEqual([5, 5]);
    // Ended runs have no job.
    await waitFor(() => expect(jobs(scene)).toEqual([]), WITHIN);
  });

  test("lose nothing when a worker gets SIGTERM and releases its polls (A8, P2)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server({ env: LEAVE_IT });
    const leaving = startWorker(scene);
    const runs = await startAll(server, "Given back");
    await untilPolled(scene, 4);
    const staying = startWorker(scene);
    await waitFor(() => expect(staying.stderr()).toContain("Polling 4 unfinished"), WITHIN);
    const [cancelled = "", ...others] = runs;
    // Called on a server that does not poll; on a worker, a poll would confirm the cancel before the answer.
    const answer = await server.call("cancel_research", { task_id: cancelled });
    expect(answer.structured).toMatchObject({ status: "cancelled", confirmed: true });
    leaving.child.kill("SIGTERM");
    const { code, stderr } = await leaving.ended;
    expect([code, stderr.includes("[WARN]"), stderr.includes("[ERROR]")]).toEqual([0, false, false]);
    await untilPolled(scene, 3);
    expect(jobs(scene)).toEqual(others.toSorted());
    scene.gemini.skip(8 * 60_000);
    for (const task_id of others) await untilStatus(server, task_id, "completed", DONE_MS);
    expect(scene.accepted()).toBe(4);
  });
});

test("a worker that is suspended for longer than its polls may take loses them, and settles none of them late (P2)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server({ env: LEAVE_IT });
  const sleeper = startWorker(scene);
  await startAll(server, "Slept through");
  await untilPolled(scene, 4);
  process.kill(sleeper.child.pid ?? 0, "SIGSTOP");
  const other = startWorker(scene);
  await waitFor(() => expect(other.stderr()).toContain("Polling 4 unfinished"), WITHIN);
  await untilPolled(scene, 4);
  process.kill(sleeper.child.pid ?? 0, "SIGCONT");
  await untilPolled(scene, 4);
  expect(jobs(scene)).toHaveLength(4);
});

test("without a worker the servers poll; a lost job is created again, one of an unknown run is removed (P2)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const task_id = await startRun(await scene.server());
  await untilPolled(scene, 1);
  scene.sql("delete from gemini_search_jobs.job where name like 'poll-%'");
  scene.sql(
    "insert into gemini_search_jobs.job (name, policy, singleton_key, data) select name, policy, ?, ? from gemini_search_jobs.queue where name like 'poll-%' and partition",
    "no run",
    JSON.stringify({ taskId: "no run" }),
  );
  // The repair is made by the next process that starts, or within a minute.
  const second = await scene.server();
  await waitFor(() => expect(jobs(scene)).toEqual([task_id]), WITHIN);
  scene.gemini.skip(8 * 60_000);
  await untilStatus(second, task_id, "completed", DONE_MS);
});

test("a server that could lose a paid id restarts no unknown start, but still adopts an id (P5, Q1)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, create: [{ fault: "accept-then-reset" }, {}] });
  const server = await scene.server({ env: LEAVE_IT });
  const { structured } = await server.call("start_deep_research", { query: "Who knows?" });
  expect(structured["error"]).toMatchObject({ code: "START_UNKNOWN" });
  const task_id = structured["task_id"];
  writeFileSync(join(scene.configDir, "a-file"), "");
  const other = await scene.server({
    env: { ...LEAVE_IT, GEMINI_SEARCH_CONFIG_DIR: join(scene.configDir, "a-file", "config") },
  });
  const again = await other.call("resume_research", { task_id, accept_possible_double_charge: true });
  expect(again.structured["error"]).toMatchObject({
    code: "SQLITE_ERROR",
    message: "The config directory cannot be written. A paid run could be lost, so nothing was started.",
  });
  expect(scene.posts()).toBe(1);
  expect(await statusOf(server, task_id)).toMatchObject({ status: "start_unknown" });
  const [taken] = scene.gemini.ledger.acceptedStarts();
  const adopted = await other.call("resume_research", { task_id, interaction_id: taken?.id });
  expect(adopted.structured).toMatchObject({ success: true, status: "running_async" });
  const stored = scene.sql("select interaction_id from research_tasks");
  expect([scene.posts(), stored]).toEqual([1, [{ interaction_id: taken?.id }]]);
});
