/** Lets workers poll every run once, and limits them then: to compile their code with a tenth of a core takes minutes. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "./world.ts";

export const CORES_PER_WORKER = 0.1;
const LIMIT_MS = 90_000;

/** After so many polls at least. False where no limit could be imposed. */
export async function warmUp({ google, reader, runs, workers }: Fleet, minPolls: number): Promise<boolean> {
  const polled = new Set<number>();
  let polls = 0;
  let isAnalyzed = false;
  // A page of the database that is written for the first time is in the WAL as a whole, which would count for the polls.
  for (const end = Date.now() + LIMIT_MS; (polled.size < runs || polls < minPolls) && Date.now() < end;) {
    await sleep(200);
    for (const { run } of await google.takePolls()) {
      polled.add(run);
      polls += 1;
    }
    if (isAnalyzed || polls === 0) continue;
    // As autovacuum does within a minute: without statistics of the new jobs, the engine's queries sort all of them.
    await reader.query("analyze");
    isAnalyzed = true;
  }
  return workers.map((worker) => worker.limit(CORES_PER_WORKER)).every(Boolean);
}
