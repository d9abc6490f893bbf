/**
 * More polls are due than the rate limit allows: the fleet never exceeds it, and an owner with few runs does not wait.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../statistics.ts";
import { atLeast, atMost, type Check } from "./check.ts";
import { metered } from "./meter.ts";
import type { FleetOptions } from "./options.ts";
import { gapsOf, maxInOneSecond, perSecond, timesByRun, within } from "./polls.ts";
import { SMALL_OWNER_RUNS, type World } from "./world.ts";

const MAX_RPS = 100;
const INTERVAL_MS = 10_000;
/** Two intervals: the first polls of all runs are due at once. */
const SETTLE_MS = 2 * INTERVAL_MS;
const MIN_INTERVALS = 3;

export const measureLimits = (world: World, { runs, seconds, workers }: FleetOptions): Promise<Check[]> =>
  world.withFleet(runs, async (fleet) => {
    const count = Math.min(4, Math.max(...workers));
    await fleet.addWorkers(count, { pollIntervalMs: INTERVAL_MS, maxRps: MAX_RPS });
    await sleep(SETTLE_MS);
    await fleet.reader.query("analyze");
    const span = await metered(fleet, () => sleep(Math.max(seconds * 1_000, MIN_INTERVALS * INTERVAL_MS)));
    const polls = await fleet.google.takePolls();
    const small = within(polls, span).filter(({ run }) => run < SMALL_OWNER_RUNS);
    const gaps = [...timesByRun(small).values()].flatMap(gapsOf);
    const interval = gaps.length === 0 ? Number.POSITIVE_INFINITY : median(gaps) / INTERVAL_MS;
    return [
      atMost(`polls in any one second, at RESEARCH_MAX_RPS ${MAX_RPS}`, 110, {
        value: (100 * maxInOneSecond(polls)) / MAX_RPS,
        unit: "% of it",
      }),
      atMost("PostgreSQL meanwhile", 0.5, { value: span.postgres, unit: "cores" }),
      atLeast("the rate reached", 80, { value: (100 * perSecond(polls, span)) / MAX_RPS, unit: "% of it" }),
      atMost(`an owner with ${SMALL_OWNER_RUNS} runs of ${runs}: its poll interval, p50`, 1.3, {
        value: interval,
        unit: "intervals",
      }),
    ];
  });
