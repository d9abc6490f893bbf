/** Checks the citations of every finished run (`VERIFY_CITATIONS=auto`), after its report is stored. */

import { claimUnchecked } from "../runs/links/link-store.ts";
import { findResult } from "../runs/result-store.ts";
import { verifyCitations, type VerifyDeps } from "./verify.ts";

/** Older runs ended before this setting, or while no process ran; their users can ask. */
const RECENT_MS = 24 * 3_600_000;
const MAX_PAGES_PER_RUN = 100;
const MAX_MS_PER_RUN = 10 * 60_000;
const CHECK_INTERVAL_MS = 5_000;

export interface AutomaticDeps {
  /** Never with a judge: no person has seen what it would cost. */
  verification: () => Promise<Omit<VerifyDeps, "judge">>;
  leaving: AbortSignal;
}

/** Returns the number of runs whose citations were checked. A run is tried once, even if that fails. */
export async function checkFinishedRuns({ verification, leaving }: AutomaticDeps): Promise<number> {
  const deps = await verification();
  let checked = 0;
  while (!leaving.aborted) {
    const now = deps.clock.now();
    const taskId = await claimUnchecked(deps.db, { since: now - RECENT_MS, now });
    if (taskId === undefined) break;
    const result = await findResult(deps.db, taskId);
    if (result === undefined) continue;
    const limits = { again: false, maxPages: MAX_PAGES_PER_RUN, maxMs: MAX_MS_PER_RUN };
    const left = await verifyCitations(deps, { taskId, result, ...limits, signal: leaving, onProgress: () => {} });
    deps.log.forRun(taskId).debug(`The cited pages were checked, apart from ${left}.`);
    checked += 1;
  }
  return checked;
}

/** Runs every few seconds until shutdown, one pass at a time. */
export function startAutomaticChecks(
  deps: AutomaticDeps & Pick<VerifyDeps, "log">,
  during: (work: Promise<unknown>) => Promise<unknown>,
): void {
  let busy = false;
  const pass = (): void => {
    if (busy || deps.leaving.aborted) return;
    busy = true;
    const work = checkFinishedRuns(deps)
      .catch((error: unknown) => {
        if (deps.leaving.aborted) return;
        deps.log.debug(`Citations were not checked: ${error instanceof Error ? error.message : "unknown"}`);
      })
      .finally(() => (busy = false));
    void during(work);
  };
  const timer = setInterval(pass, CHECK_INTERVAL_MS).unref();
  deps.leaving.addEventListener("abort", () => clearInterval(timer), { once: true });
  pass();
}
