/** `status` through the built program: running workers, a killed one, none, and refused polls. */

import { expect, test } from "vitest";
import type { RunningCommand } from "../kit/server/command.ts";
import { openResearch, type ResearchScene, SLOW, startRun } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

/** Heartbeats are recorded every 15 s. */
const SOON = { timeout: 60_000, interval: 500 };

async function statusOf(scene: ResearchScene) {
  const { code, stdout } = await scene.command(["status", "--json"]);
  return { code, ...JSON.parse(stdout) };
}

const pidsOf = (workers: { pid: number }[]): number[] => workers.map(({ pid }) => pid).toSorted((a, b) => a - b);

async function kill(worker: RunningCommand): Promise<void> {
  worker.child.kill("SIGKILL");
  await worker.ended;
}

test("status shows the workers and a killed one, and fails as a health check when none is left (P7)", async (context) => {
  const scene = await openResearch(context, SLOW);
  expect(await statusOf(scene)).toMatchObject({ code: 0, healthy: true, workers: [], runs: { in_progress: 0 } });
  const server = await scene.server({ env: { RESEARCH_MAX_RPS: "0" } });
  const taskId = await startRun(server);
  const none = await statusOf(scene);
  expect(none).toMatchObject({ code: 1, healthy: false, runs: { in_progress: 1 } });
  expect(none.problems[0].remedy).toBe("Start one: gemini-search-mcp worker");
  const workers = [scene.startCommand(["worker"]), scene.startCommand(["worker"])];
  const pids = pidsOf(workers.map(({ child }) => ({ pid: child.pid ?? 0 })));
  await waitFor(async () => {
    const status = await statusOf(scene);
    expect(status).toMatchObject({ code: 0, healthy: true });
    expect(pidsOf(status.workers)).toEqual(pids);
    expect(status.polls.per_second).toBeGreaterThan(0);
  }, SOON);
  const [first, second] = workers;
  if (first === undefined || second === undefined) return;
  await kill(first);
  const one = await statusOf(scene);
  expect(one).toMatchObject({ code: 0, healthy: true });
  expect(one.workers).toHaveLength(2);
  expect(one.workers.filter(({ responds }: { responds: boolean }) => responds)).toMatchObject([
    { pid: second.child.pid },
  ]);
  await kill(second);
  expect(await statusOf(scene)).toMatchObject({ code: 1, healthy: false, runs: { in_progress: 1 } });
  const { code, stdout } = await scene.command(["status"]);
  expect(code).toBe(1);
  expect(stdout).toContain("No worker is running, and 1 run is in progress. Start one: gemini-search-mcp worker");
  // Neither questions nor user names: it may be shown publicly.
  expect(stdout).not.toContain(taskId);
});

test("status counts what Google refuses, by cause, and says what to do about many 429 (P7)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server({ env: { RESEARCH_MAX_RPS: "0" } });
  await startRun(server);
  scene.play({ ...SLOW, get: [{ fault: "http-429-retry-after" }] });
  scene.startCommand(["worker"]);
  await waitFor(async () => {
    const { code, polls, problems } = await statusOf(scene);
    expect(Object.keys(polls.errors)).toEqual(["rate_limited"]);
    expect(polls.errors.rate_limited).toBeGreaterThanOrEqual(3);
    expect(code).toBe(1);
    expect(problems[0].remedy).toContain("lower RESEARCH_MAX_RPS");
  }, SOON);
});
