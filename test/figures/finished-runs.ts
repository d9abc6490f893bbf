/** Creates finished runs that are no longer polled, for calls that only read. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ProductProcess } from "../kit/kills/process.ts";
import type { KillWorld } from "../kit/kills/world.ts";

export async function finishedRuns(world: KillWorld, child: ProductProcess, count: number): Promise<string[]> {
  const runs: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await child.call("start_deep_research", { query: `Question ${n} about what is known` });
    if (answer?.task_id === undefined) throw new Error(`A start was refused: ${JSON.stringify(answer)}`);
    runs.push(answer.task_id);
  }
  while (world.query("select 1 from research_tasks where next_poll_at is not null").length > 0) await sleep(20);
  return runs;
}
