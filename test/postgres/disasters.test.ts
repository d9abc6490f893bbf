/** A fleet under load whose processes and database fail in turn: the short version of the lab experiment `fleet`. */

import { expect, test } from "vitest";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { type Disaster, strike } from "../fleet/disasters.ts";
import { countMismatches } from "../fleet/jobs.ts";
import { judgeFleet, untilRest } from "../fleet/judge.ts";
import { beginLoad } from "../fleet/load.ts";
import { openFleetWorld } from "../fleet/world.ts";

/** All except `cut`, which needs separate machines and at least half a minute. */
const ORDER: Disaster[] = ["worker", "immediate", "starting", "server", "fast", "rolling"];
/** A start in flight becomes unknown after two and a half minutes. */
const LIMIT_MS = 360_000;

const lives = (random: () => number): ScenarioInput => ({
  name: "research-fleet",
  interactions: {
    create: Array.from({ length: 500 }, () => ({
      latency_ms: Math.round(500 * random()),
      life: { duration_ms: Math.round(2_000 + 8_000 * random()) },
    })),
  },
});

test(
  "kills, including of a server whose paid start is in flight, a crash of the database and a rolling restart lose nothing, pay nothing twice and announce nothing twice (P2, P5, I8)",
  async (context) => {
    const world = await openFleetWorld({ seed: 7, isolate: false, scenario: lives });
    if (world === undefined) {
      context.skip("PostgreSQL is not installed");
      return;
    }
    context.onTestFinished(() => world.close(), LIMIT_MS);
    const load = beginLoad(world, { pauseMs: 800 });
    for (const disaster of ORDER) {
      await strike(world, disaster);
      // A poll that failed for good during the disaster is scheduled again by the repair, once a minute.
      await expect.poll(() => countMismatches(world.query), { timeout: 75_000, interval: 250 }).toBe(0);
    }
    // Google may respond in the moment of the kill: then no start was in flight, and the next one is tried.
    for (let kills = 1; world.killedStarts.size === 0 && kills < 5; kills += 1) await strike(world, "starting");
    await load.stop();
    await untilRest(world);
    const { broken, counts } = await judgeFleet(world);
    expect(broken).toEqual([]);
    expect(counts["completed"]).toBeGreaterThan(0);
    expect(world.killedStarts.size).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
