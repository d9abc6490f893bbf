/** Clears impossible token counts and costs, and reports runs that cannot be read. */

import type { ResearchDeps } from "../deps.ts";
import { takeUnreadable } from "../unreadable.ts";
import { clearImpossibleFigures } from "./impossible-figures-store.ts";

export async function repairImpossibleFigures({ db, log }: Pick<ResearchDeps, "db" | "log">): Promise<void> {
  for (const taskId of await clearImpossibleFigures(db)) {
    log.forRun(taskId).warn(`Run ${taskId}: its stored token counts or cost were impossible and are now unknown.`);
  }
}

/** Logs each unreadable run once per process. Returns whether there was a new one. */
export function reportUnreadableRuns({ log }: Pick<ResearchDeps, "log">): boolean {
  const unreadable = takeUnreadable();
  for (const taskId of unreadable) {
    log
      .forRun(taskId)
      .warn(`Run ${taskId}: its stored data is damaged, so it is skipped. Other runs are not affected.`);
  }
  return unreadable.length > 0;
}
