/** Cost of an idle fleet, and lateness of polls at 100 polls per second. */

import { setTimeout as sleep } from "node:timers/promises";
import { tailOf } from "../statistics.ts";
import { atMost, type Check, reported, short } from "./check.ts";
import { metered } from "./meter.ts";
import type { FleetOptions } from "./options.ts";
import { latenessOf } from "./polls.ts";
import { readDue, setDue } from "./schedule.ts";
import { warmUp } from "./warm-up.ts";
import type { Fleet, World } from "./world.ts";

const RATE = 100;
const SETTLE_MS = 3_000;
/** Later than any measurement. */
const FAR_MS = 3_600_000;

export const measureQuiet = (world: World, { runs, seconds, workers }: FleetOptions): Promise<Check[]> =>
  world.withFleet(runs, async (fleet) => {
    const { reader } = fleet;
    const count = Math.max(...workers);
    await fleet.addWorkers(count, { pollIntervalMs: 600_000, maxRps: 10_000 });
    await warmUp(fleet, 0);
    await setDue(reader, { from: Date.now() + FAR_MS, to: Date.now() + 2 * FAR_MS });
    // Done by autovacuum within a minute: dead tuples of the update above do not belong to the fleet.
    await reader.query("vacuum analyze");
    await sleep(SETTLE_MS);
    const idle = await metered(fleet, () => sleep(seconds * 1_000));
    const idleSeconds = (idle.to - idle.from) / 1_000;

    const limited = await measureLateness(fleet, seconds);
    for (const worker of fleet.workers) worker.unlimit();
    const free = await measureLateness(fleet, seconds);
    return [
      atMost(`idle, ${count} workers: PostgreSQL`, 4, { value: 100 * idle.postgres, unit: "% of a core" }),
      atMost(`idle, ${count} workers: WAL per second`, 20, { value: idle.walBytes / idleSeconds / 1_000, unit: "kB" }),
      reported(
        `${RATE} polls per second, a tenth of a core each: lateness p50, p99`,
        `${short(limited.p50)}, ${short(limited.p99)} ms`,
      ),
      atMost(`${RATE} polls per second, lateness p50`, 150, { value: free.p50, unit: "ms" }),
      atMost(`${RATE} polls per second, lateness p99`, 500, { value: free.p99, unit: "ms" }),
      atMost("of these, polls that were not received", 0, { value: limited.missing + free.missing, unit: "" }),
      atMost(`PostgreSQL at ${RATE} polls per second`, 0.5, { value: free.postgres, unit: "cores" }),
    ];
  });

/**
 * Time from when polls were due until Google received them. With a tenth of a core, the CPU time of a poll takes ten
 * times as long.
 */
async function measureLateness(fleet: Fleet, seconds: number) {
  const { google, reader, runs } = fleet;
  await google.takePolls();
  const from = Date.now() + 1_000;
  await setDue(reader, { from, to: from + (runs / RATE) * 1_000 });
  const due = await readDue(reader, { from, to: from + seconds * 1_000 });
  const { postgres } = await metered(fleet, () => sleep(from - Date.now() + seconds * 1_000 + 2_000));
  const late = latenessOf(due, await google.takePolls());
  return { ...tailOf(late), missing: due.length - late.length, postgres };
}
