/** Servers and workers as processes of their own on one PostgreSQL: who follows what, and what is left when one goes. */

import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunningCommand } from "../support/command.ts";
import { openResearch, type ResearchScene, SLOW, startRun, statusOf, untilStatus } from "../support/research.ts";
import { waitFor } from "../support/wait-for.ts";

/** P2: another machine takes over within this time; no test asks for less. */
const TAKE_OVER_MS = 60_000;
const DONE_MS = 30_000;
const WITHIN = { timeout: DONE_MS, interval: 250 };
const LEAVE_IT = { RESEARCH_FOLLOW: "off" };

const startWorker = (scene: ResearchScene): RunningCommand => scene.startCommand(["worker"]);

/** The runs that each of the processes has, by its number. */
function handed(scene: ResearchScene): Map<number, string[]> {
  const rows = scene.sql<{ pid: number; task_id: string }>(
    "select pid, task_id from research_tasks join processes on process_id = handed_to order by task_id",
  );
  const all = new Map<number, string[]>();
  for (const { pid, task_id } of rows) all.set(pid, [...(all.get(pid) ?? []), task_id]);
  return all;
}

const untilHanded = (scene: ResearchScene, count: number, workers: RunningCommand[]): Promise<void> =>
  waitFor(
    () => {
      const all = handed(scene);
      expect(workers.flatMap(({ child }) => all.get(child.pid ?? 0) ?? [])).toHaveLength(count);
    },
    { timeout: TAKE_OVER_MS, interval: 250 },
  );

const startAll = (server: Parameters<typeof startRun>[0], name: string): Promise<string[]> =>
  Promise.all([1, 2, 3, 4].map((n) => startRun(server, `${name} question ${n}?`)));

describe("two servers and two workers", () => {
  test("P2 I10 what one server starts the other tells of, a worker follows, and a killed worker's runs go on in the other", async (context) => {
    const scene = await openResearch(context, SLOW);
    const [one, two] = await Promise.all([scene.server({ env: LEAVE_IT }), scene.server({ env: LEAVE_IT })]);
    const runs = await startAll(one, "First");
    // Nobody follows: what a server leaves to others, it leaves.
    for (const task_id of runs) expect(await statusOf(two, task_id)).toMatchObject({ status: "running_async" });
    expect(handed(scene).size).toBe(0);
    const first = startWorker(scene);
    await untilHanded(scene, 4, [first]);
    const second = startWorker(scene);
    await waitFor(() => expect(second.stderr()).toContain("Following 4 unfinished"), WITHIN);

    const same = await Promise.all([one, two].map((server) => startRun(server, "The same question?")));
    expect(new Set(same).size).toBe(1);
    expect(scene.posts()).toBe(5);
    await untilHanded(scene, 5, [first, second]);

    first.child.kill("SIGKILL");
    await untilHanded(scene, 5, [second]);
    scene.gemini.skip(8 * 60_000);
    for (const task_id of [...runs, ...same]) await untilStatus(two, task_id, "completed", DONE_MS);
    expect([scene.posts(), scene.accepted()]).toEqual([5, 5]);
    // What has ended is nobody's, and has no job.
    await waitFor(() => {
      expect(handed(scene).size).toBe(0);
      expect(scene.sql("select id from gemini_search_jobs.job")).toEqual([]);
    }, WITHIN);
  });

  test("A8 P2 a worker that is told to leave hands over all it has, and nothing is lost", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server({ env: LEAVE_IT });
    const leaving = startWorker(scene);
    const runs = await startAll(server, "Handed over");
    await untilHanded(scene, 4, [leaving]);
    const staying = startWorker(scene);
    await waitFor(() => expect(staying.stderr()).toContain("Following 4 unfinished"), WITHIN);
    const [cancelled = "", ...others] = runs;
    // By a server that does not follow it: the worker that does hears of it in time for the answer.
    const answer = await server.call("cancel_research", { task_id: cancelled });
    expect(answer.structured).toMatchObject({ status: "cancelled", confirmed: true });
    leaving.child.kill("SIGTERM");
    const { code, stderr } = await leaving.ended;
    expect([code, stderr.includes("[WARN]"), stderr.includes("[ERROR]")]).toEqual([0, false, false]);
    await untilHanded(scene, 3, [staying]);
    scene.gemini.skip(8 * 60_000);
    for (const task_id of others) await untilStatus(server, task_id, "completed", DONE_MS);
    expect(scene.accepted()).toBe(4);
  });
});

test("P2 without a worker the servers follow; a job that is lost is made again, one that is nobody's is removed", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const task_id = await startRun(server);
  await waitFor(() => expect(handed(scene).get(server.pid)).toEqual([task_id]), WITHIN);
  scene.sql("delete from gemini_search_jobs.job");
  scene.sql("insert into gemini_search_jobs.job (id, name) values (?, 'runs')", randomUUID());
  await waitFor(() => expect(scene.sql("select id from gemini_search_jobs.job")).toEqual([{ id: task_id }]), WITHIN);
  scene.gemini.skip(8 * 60_000);
  await untilStatus(server, task_id, "completed", DONE_MS);
});

test("I3 A7 above a limit every server of the fleet refuses, says when to try again, and sends nothing", async (context) => {
  const scene = await openResearch(context, SLOW);
  const env = { ...LEAVE_IT, RESEARCH_MAX_UNFINISHED: "2" };
  const [one, two] = await Promise.all([scene.server({ env }), scene.server({ env })]);
  const kept = [await startRun(one, "First question?"), await startRun(two, "Second question?")];
  for (const server of [one, two]) {
    const { isError, structured, text } = await server.call("start_deep_research", { query: "One too many?" });
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ success: false, error: { code: "BUSY", details: { retry_after: 60 } } });
    expect(text).toContain("2 researches are under way, which is as many as this server takes.");
  }
  expect([scene.posts(), scene.sql("select task_id from research_tasks").length]).toEqual([2, 2]);
  // Who asks for what is under way already is given that.
  expect((await one.call("start_deep_research", { query: "Second question?" })).structured).toMatchObject({
    task_id: kept[1],
    joined: true,
  });
});

test("P5 Q1 a server that could lose the id of a paid start does not start one again either; what is free it does", async (context) => {
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
    message: "The database cannot be written, so a paid run could be lost. Nothing was started.",
  });
  expect(scene.posts()).toBe(1);
  expect(await statusOf(server, task_id)).toMatchObject({ status: "start_unknown" });
  const [taken] = scene.gemini.ledger.acceptedStarts();
  const adopted = await other.call("resume_research", { task_id, interaction_id: taken?.id });
  expect(adopted.structured).toMatchObject({ success: true, status: "running_async" });
});
