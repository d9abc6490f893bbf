/** All runs end at once: reports per second, the cost of each, and the memory of a worker that collects them. */

import { setTimeout as sleep } from "node:timers/promises";
import { atMost, type Check, reported, short } from "./check.ts";
import { NORMAL } from "./google-process.ts";
import { metered } from "./meter.ts";
import type { FleetOptions } from "./options.ts";
import type { World } from "./world.ts";

/** Collected at the maximum rate, when memory use is highest. */
const WORKERS = { pollIntervalMs: 1_000, maxRps: 10_000 };
const COUNT = 2;

export const measureCollecting = (world: World, { runs, seconds }: FleetOptions): Promise<Check[]> =>
  world.withFleet(runs, async (fleet) => {
    const { google, reader, workers } = fleet;
    const completed = async (): Promise<number> => {
      const rows = await reader.query<{ n: number }>(
        "select count(*) as n from research_tasks where status = 'completed'",
      );
      return rows[0]?.n ?? 0;
    };
    google.behave({ ...NORMAL, ended: true });
    await fleet.addWorkers(COUNT, WORKERS);
    const before = await completed();
    const usage = await metered(fleet, async () => {
      for (const end = Date.now() + 2 * seconds * 1_000; Date.now() < end && (await completed()) < runs;) {
        await sleep(200);
      }
    });
    const reports = (await completed()) - before;
    const ms = usage.to - usage.from;
    return [
      atMost("peak memory of a worker that collects reports", 200, {
        value: Math.max(...workers.map((worker) => worker.peakMb())),
        unit: "MB",
      }),
      reported(`reports per second, ${COUNT} workers without a limit`, short((1_000 * reports) / ms)),
      reported("per report: PostgreSQL", `${short((usage.postgres * ms) / reports)} ms`),
      reported("per report: worker", `${short((usage.workers * ms) / reports)} ms`),
      reported("per report: WAL", `${short(usage.walBytes / reports / 1_000)} kB`),
    ];
  });
