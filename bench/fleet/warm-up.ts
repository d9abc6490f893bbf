/**
 * Lets workers poll every run once before limiting them, because compiling their code with a tenth of a core takes
 * minutes.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "./world.ts";

export const CORES_PER_WORKER = 0.1;
const LIMIT_MS = 90_000;

/** After at least this many polls. Returns false if no limit could be imposed. */
export async function warmUp({ google, reader, runs, workers }: Fleet, minPolls: number): Promise<boolean> {
  const polled = new Set<number>();
  let polls = 0;
  let isAnalyzed = false;
  // The first write to a database page puts the whole page into the WAL, which would count for the polls.
  for (const end = Date.now() + LIMIT_MS; (polled.size < runs || polls < minPolls) && Date.now() < end;) {
    await sleep(200);
    for (const { run } of await google.takePolls()) {
      polled.add(run);
      polls += 1;
    }
    if (isAnalyzed || polls === 0) continue;
    // Done by autovacuum within a minute: without statistics of the new jobs, pg-boss's queries sort all of them.
    await reader.query("analyze");
    isAnalyzed = true;
  }
  return workers.map((worker) => worker.limit(CORES_PER_WORKER)).every(Boolean);
}
