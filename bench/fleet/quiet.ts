/** Nothing is due, then 100 polls a second are: what the fleet costs at rest, and how late polls are. */

import { setTimeout as sleep } from "node:timers/promises";
import { tailOf } from "../statistics.ts";
import { atMost, type Check } from "./check.ts";
import { metered } from "./meter.ts";
import type { FleetOptions } from "./options.ts";
import { latenessOf } from "./polls.ts";
import { readDue, setDue } from "./schedule.ts";
import { warmUp } from "./warm-up.ts";
import type { World } from "./world.ts";

const RATE = 100;
const SETTLE_MS = 3_000;
/** Beyond what anything is measured. */
const FAR_MS = 3_600_000;

export const measureQuiet = (world: World, { runs, seconds, workers }: FleetOptions): Promise<Check[]> =>
  world.withFleet(runs, async (fleet) => {
    const { google, reader } = fleet;
    const count = Math.max(...workers);
    await fleet.addWorkers(count, { pollIntervalMs: 600_000, maxRps: 10_000 });
    await warmUp(fleet, 0);
    await setDue(reader, { from: Date.now() + FAR_MS, to: Date.now() + 2 * FAR_MS });
    // As autovacuum does within a minute: what the line above has replaced is none of the fleet's.
    await reader.query("vacuum analyze");
    await sleep(SETTLE_MS);
    const idle = await metered(fleet, () => sleep(seconds * 1_000));
    const idleSeconds = (idle.to - idle.from) / 1_000;

    await google.takePolls();
    const from = Date.now() + 1_000;
    await setDue(reader, { from, to: from + (runs / RATE) * 1_000 });
    const due = await readDue(reader, { from, to: from + seconds * 1_000 });
    const steady = await metered(fleet, () => sleep(from - Date.now() + seconds * 1_000 + 2_000));
    const late = latenessOf(due, await google.takePolls());
    const { p50, p99 } = tailOf(late);
    return [
      atMost(`idle, ${count} workers: PostgreSQL`, 4, { value: 100 * idle.postgres, unit: "% of a core" }),
      atMost(`idle, ${count} workers: WAL a second`, 20, { value: idle.walBytes / idleSeconds / 1_000, unit: "kB" }),
      atMost(`${RATE} polls a second, lateness p50`, 150, { value: p50, unit: "ms" }),
      atMost(`${RATE} polls a second, lateness p99`, 500, { value: p99, unit: "ms" }),
      atMost("of these, polls that did not come", 0, { value: due.length - late.length, unit: `of ${due.length}` }),
      atMost(`PostgreSQL at ${RATE} polls a second`, 0.5, { value: steady.postgres, unit: "cores" }),
    ];
  });
