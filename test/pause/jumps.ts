/** Clocks that jump by an hour or a day while real processes start and follow runs. */

import { setTimeout as sleep } from "node:timers/promises";
import { drain } from "../kit/kills/kills.ts";
import { judge, type Verdict } from "../kit/judge/kills-judge.ts";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type ClockWorld, openClockWorld } from "./clock-world.ts";

const HOUR = 3_600_000;
export const JUMPS = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR];

const MAX_WAIT_MS = 40_000;
/** Long enough for several polls, so that the jump falls between two of them. */
const INTERACTIONS = { speed: 1_000, duration_ms: 3_000_000, create: [{ latency_ms: 100 }], get: [{ latency_ms: 20 }] };

/** Makes each jump while runs are being sent and polled; the remaining processes must finish every run. */
export async function playJumps(jumps: readonly number[]): Promise<Verdict> {
  const here = await openClockWorld({ scenario: { name: "jumps", interactions: INTERACTIONS } });
  const [server, worker] = [here.begin(), here.begin({ args: ["worker"] })];
  const broken: string[] = [];
  try {
    // Both processes have made their first sweep before the first jump.
    const first = await start(here, server, "What was before them all?");
    // A jump past its deadline would end this run as documented, so it is finished first.
    await collected(here, server, { taskIds: [first], during: "" });
    let withheld = 0;
    for (const [n, by] of jumps.entries()) {
      const after = await jumpOnce(here, server, { n, by });
      withheld += after.withheld;
      if (after.open > 0) broken.push(`${after.open} runs did not end after a jump of ${by / HOUR} hours.`);
    }
    await Promise.all([end(server), end(worker)]);
    await drain(here);
    const verdict = judge(here);
    return { broken: [...broken, ...verdict.broken], counts: { ...verdict.counts, jumps: jumps.length, withheld } };
  } finally {
    await here.close();
  }
}

async function jumpOnce(
  here: ClockWorld,
  server: ProductProcess,
  { n, by }: { n: number; by: number },
): Promise<After> {
  // Its process is killed, so that no stream exists and only polls by others end the run.
  const gone = here.begin();
  const early = await start(here, gone, `What was before jump ${n}?`);
  await end(gone);
  // In the middle of a paid request.
  const sending = start(here, server, `What is during jump ${n}?`);
  await sleep(50);
  here.jump(by);
  const during = await sending;
  const late = await start(here, server, `What is after jump ${n}?`);
  return collected(here, server, { taskIds: [early, during, late], during });
}

async function start(here: ClockWorld, server: ProductProcess, query: string): Promise<string> {
  const answer = await server.call("start_deep_research", { query, force_new: true, max_wait_hours: 24 });
  const taskId = answer?.task_id ?? "";
  here.returned.add(taskId);
  return taskId;
}

interface Row {
  task_id: string;
  status: string;
  interaction_id: string | null;
  error_message: string | null;
}

interface After {
  /** Runs that did not end. */
  open: number;
  /** Starts that were not sent, because the time limit for sending them had passed. */
  withheld: number;
}

/** Waits for all runs to end. A clock that jumps past the deadline ends a run, and `resume_research` continues it. */
async function collected(
  here: ClockWorld,
  server: ProductProcess,
  { taskIds, during }: { taskIds: string[]; during: string },
): Promise<After> {
  const open = new Set(taskIds);
  const resumed = new Set<string>();
  let withheld = 0;
  for (const end = Date.now() + MAX_WAIT_MS; open.size > 0 && Date.now() < end; await sleep(50)) {
    for (const row of here.query<Row>("select task_id, status, interaction_id, error_message from research_tasks")) {
      if (row.status === "completed") open.delete(row.task_id);
      const isWithheld = row.interaction_id === null && ["failed", "start_unknown"].includes(row.status);
      if (row.task_id === during && isWithheld && open.delete(during)) withheld += 1;
      const timedOut = row.status === "failed" && row.error_message?.includes("timed out") === true;
      if (!timedOut || !open.has(row.task_id) || resumed.has(row.task_id)) continue;
      resumed.add(row.task_id);
      await server.call("resume_research", { task_id: row.task_id });
    }
  }
  return { open: open.size, withheld };
}

async function end(child: ProductProcess): Promise<void> {
  child.kill();
  await child.ended;
}
