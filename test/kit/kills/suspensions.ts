/** Suspends processes around the paid request for longer than its time limit, while others act on the run. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fresh } from "./kills.ts";
import type { KillWorld } from "./world.ts";
import { resumeProcess, tryWrite } from "./suspend.ts";

/** The time limit of the paid request; a suspension must exceed it by more than a second to be detected. */
const START_LIMIT_MS = 1_000;
const PAUSE_MS = 2_500;
const MAX_WAIT_MS = 20_000;

/** Between intent and request, and between the request and its response. */
const POINTS = ["before-post", "during-post"] as const;
/** What another process does meanwhile. */
const ACTIONS = ["nothing", "expire lease", "cancel", "restart"] as const;

/**
 * Requires that no other process is alive, because leases are expired early. Each suspended process continues and exits
 * normally.
 */
export async function pauseAll(world: KillWorld, pauses: number): Promise<void> {
  for (let n = 0; n < pauses; n += 1) {
    const point = POINTS[n % POINTS.length] ?? "before-post";
    const action = ACTIONS[Math.floor(n / POINTS.length) % ACTIONS.length] ?? "nothing";
    await pauseOnce(world, { point, action });
    world.kills.set("paused", (world.kills.get("paused") ?? 0) + 1);
  }
}

async function pauseOnce(world: KillWorld, { point, action }: { point: string; action: string }): Promise<void> {
  const query = fresh(`a pause ${point}`);
  const env = { GEMINI_SEARCH_START_LIMIT_MS: String(START_LIMIT_MS) };
  const child = world.begin({ failpoint: `${point}:1:stop`, env });
  const answer = child.call("start_deep_research", { query });
  await until(() => (isStopped(child.pid) ? true : undefined));
  const stopped = performance.now();
  const taskId = await until(() => pendingRun(world, query));
  world.returned.add(taskId);
  if (action !== "nothing") await actWhileSuspended(world, { taskId, action });
  await sleep(Math.max(0, PAUSE_MS - (performance.now() - stopped)));
  resumeProcess(child);
  await answer;
  child.closeStdin();
  await child.ended;
}

async function actWhileSuspended(
  world: KillWorld,
  { taskId, action }: { taskId: string; action: string },
): Promise<void> {
  if (action !== "cancel") await expireLease(world, taskId);
  if (action === "expire lease") return;
  const other = world.begin();
  if (action === "cancel") await other.call("cancel_research", { task_id: taskId });
  else await other.call("resume_research", { task_id: taskId, accept_possible_double_charge: true });
  other.closeStdin();
  await other.ended;
}

/** Expires the lease and waits until a worker has noticed. */
async function expireLease(world: KillWorld, taskId: string): Promise<void> {
  const sql = `update research_tasks set lease_until = 1 where task_id = '${taskId}'`;
  await until(() => (tryWrite(world, sql) ? true : undefined));
  const worker = world.begin({ args: ["worker"] });
  await until(() => (statusOf(world, taskId) === "start_unknown" ? true : undefined));
  worker.signal("SIGTERM");
  await worker.ended;
}

const isStopped = (pid: number): boolean => /\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

const statusOf = (world: KillWorld, taskId: string): string | undefined =>
  world.query<{ status: string }>(`select status from research_tasks where task_id = '${taskId}'`)[0]?.status;

const pendingRun = (world: KillWorld, query: string): string | undefined =>
  world
    .query<{ task_id: string; query: string }>("select task_id, query from research_tasks where status = 'pending'")
    .find((run) => run.query === query)?.task_id;

async function until<T>(read: () => T | undefined): Promise<T> {
  for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end; await sleep(20)) {
    const found = read();
    if (found !== undefined) return found;
  }
  throw new Error("The state that a suspension waits for was not reached.");
}
