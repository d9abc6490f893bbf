/** Repairs stored token counts and costs that cannot be true: a driver that cannot read them fails for every run. */

import type { ResearchDeps } from "../deps.ts";
import { takeUnreadable } from "../unreadable.ts";
import { clearImpossibleFigures } from "./impossible-figures-store.ts";

export async function repairImpossibleFigures({ db, log }: Pick<ResearchDeps, "db" | "log">): Promise<void> {
  for (const taskId of await clearImpossibleFigures(db)) {
    log.forRun(taskId).warn(`Run ${taskId}: its stored token counts or cost were impossible and are now unknown.`);
  }
}

/** Once for each run in the life of this process. */
export function reportUnreadableRuns({ log }: Pick<ResearchDeps, "log">): void {
  for (const taskId of takeUnreadable()) {
    log
      .forRun(taskId)
      .warn(`Run ${taskId}: its stored data is damaged, so it is skipped. Other runs are not affected.`);
  }
}
