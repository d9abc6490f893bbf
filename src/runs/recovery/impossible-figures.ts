/** Clears impossible token counts and costs: a value the driver cannot read makes queries for all runs fail. */

import type { ResearchDeps } from "../deps.ts";
import { takeUnreadable } from "../unreadable.ts";
import { clearImpossibleFigures } from "./impossible-figures-store.ts";

export async function repairImpossibleFigures({ db, log }: Pick<ResearchDeps, "db" | "log">): Promise<void> {
  for (const taskId of await clearImpossibleFigures(db)) {
    log.forRun(taskId).warn(`Run ${taskId}: its stored token counts or cost were impossible and are now unknown.`);
  }
}

/** Logs each unreadable run once per process. */
export function reportUnreadableRuns({ log }: Pick<ResearchDeps, "log">): void {
  for (const taskId of takeUnreadable()) {
    log
      .forRun(taskId)
      .warn(`Run ${taskId}: its stored data is damaged, so it is skipped. Other runs are not affected.`);
  }
}
