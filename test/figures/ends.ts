/** R3: runs end in time although Google rejects, resets and limits requests, and processes are restarted. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ProductProcess } from "../kit/kills/process.ts";
import { type KillWorld, openKillWorld, seeded } from "../kit/kills/world.ts";
import { inLanes, inTurn } from "./lanes.ts";

/** Acceleration of all times, including the poll interval. */
export const SPEED = 100;
const MINUTE = 60_000;
/** The default of max_wait_hours, accelerated. */
const MAX_WAIT_MS = (8 * 60 * MINUTE) / SPEED;
const SERVERS = 4;
const RESTART_EVERY_MS = 5_000;

export interface EndVerdict {
  runs: number;
  /** Completed, or reported as failed by Google. */
  ended: number;
  unknown: number;
  restarts: number;
  /** Duration of the slowest run, in simulated minutes. */
  slowestMinutes: number;
  faults: Record<string, number>;
}

export interface EndOptions {
  runs: number;
  seed: number;
  /** Duration of the longest run, in simulated minutes. */
  maxMinutes?: number;
}

export async function endUnderFaults({ runs, seed, maxMinutes = 60 }: EndOptions): Promise<EndVerdict> {
  const random = seeded(seed);
  const world = await openKillWorld({ seed, build: "dist", scenario: scenarioOf(runs, maxMinutes, random) });
  try {
    const children = Array.from({ length: SERVERS }, () => world.begin());
    const restarting = keepRestarting(world, children, random);
    await inLanes(runs, 4 * SERVERS, async (n) => {
      await inTurn(children, n).call("start_deep_research", { query: `Question ${n} about storms` });
      await sleep(500);
    });
    const deadline = Date.now() + MAX_WAIT_MS;
    while (isPolled(world) && Date.now() < deadline) await sleep(200);
    const restarts = await restarting.stop();
    return verdictOf(world, restarts);
  } finally {
    await world.close();
  }
}

/**
 * Every run meets rejections, resets, truncated responses, a rate limit and cut streams; some starts meet a rate limit.
 */
function scenarioOf(runs: number, maxMinutes: number, random: () => number) {
  const create = Array.from({ length: runs }, () => ({
    ...(random() < 0.03 ? { fault: "http-429" as const, retry_after: 1 } : {}),
    life: {
      duration_ms: Math.round((5 + random() * (maxMinutes - 5)) * MINUTE),
      ...(random() < 0.1 ? { status: "failed" } : {}),
    },
  }));
  const get = [
    { fault: "reset-before" as const },
    {},
    { fault: "http-503" as const },
    { fault: "reset-mid-body" as const },
    {},
    { fault: "http-429" as const, retry_after: 1 },
    { fault: "malformed-json" as const },
    { fault: "html-200" as const },
    { fault: "http-500" as const },
    {},
  ];
  const stream = [
    { cut_ms: MINUTE, cut: "reset" as const },
    { cut_ms: MINUTE, cut: "error-array" as const },
    { fault: "http-503" as const },
    {},
  ];
  return { name: "storms", interactions: { speed: SPEED, create: [...create, {}], get, stream } };
}

function keepRestarting(world: KillWorld, children: ProductProcess[], random: () => number) {
  const stopping = new AbortController();
  let restarts = 0;
  const restart = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await sleep(RESTART_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      const index = Math.floor(random() * children.length);
      const child = children[index];
      if (stopping.signal.aborted || child === undefined) return;
      children[index] = world.begin();
      restarts += 1;
      if (random() < 0.5) child.kill();
      else child.signal("SIGTERM");
      await child.ended;
    }
  };
  const running = restart();
  return {
    stop: async () => {
      stopping.abort();
      await running;
      return restarts;
    },
  };
}

const isPolled = (world: KillWorld): boolean =>
  world.query("select 1 from research_tasks where status in ('pending', 'running_async') limit 1").length > 0;

function verdictOf(world: KillWorld, restarts: number): EndVerdict {
  const rows = world.query<{ status: string; interaction_id: string | null; took: number | null }>(
    "select status, interaction_id, completed_at - created_at as took from research_tasks",
  );
  const inTime = rows.filter(
    ({ status, took, interaction_id }) =>
      interaction_id !== null && ["completed", "failed"].includes(status) && took !== null && took <= MAX_WAIT_MS,
  );
  const faults = Object.entries(world.gemini.ledger.interactionRequests()).filter(([name]) =>
    /http-|reset|malformed|html/.test(name),
  );
  return {
    runs: rows.length,
    ended: inTime.length,
    unknown: rows.filter(({ status }) => status === "start_unknown").length,
    restarts,
    slowestMinutes: (Math.max(...inTime.map(({ took }) => took ?? 0)) * SPEED) / MINUTE,
    faults: Object.fromEntries(faults),
  };
}
