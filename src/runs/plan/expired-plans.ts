/** Ends runs whose plan was not approved in time. */

import type { ResearchDeps } from "../deps.ts";
import { expirePlans } from "./plan-store.ts";

/** The rest is left to the next sweep. */
const MAX_PER_SWEEP = 100;

export async function endExpiredPlans({ db, clock, log }: Pick<ResearchDeps, "db" | "clock" | "log">): Promise<void> {
  for (const taskId of await expirePlans(db, { now: clock.now(), limit: MAX_PER_SWEEP })) {
    log.forRun(taskId).info(`Run ${taskId}: the plan has expired without approval. Nothing was charged for research.`);
  }
}
