/** Waits in the terminal for a background run, with one live line about what it is doing. */

import { z } from "zod";
import type { App } from "../app.ts";
import { checkResearchStatus } from "../operations/check-research-status.ts";
import { getResearchResults } from "../operations/get-research-results.ts";
import type { Call } from "../operations/operation.ts";
import { type Outcome, perform } from "../operations/perform.ts";

const LOOK_EVERY_MS = 1_000;
const ENDED = new Set(["completed", "failed", "cancelled", "start_unknown"]);

/** The report, or why there is none. Ctrl-C ends the waiting, not the research. */
export async function followRun(app: App, taskId: string, call: Call): Promise<Outcome> {
  await app.followResearch();
  for (;;) {
    const status = await perform(checkResearchStatus, app.deps, { task_id: taskId }, call);
    if (status.failed || call.signal.aborted) return status;
    if (ENDED.has(String(status.structured["status"]))) break;
    call.progress(statusLine(status.structured));
    await app.deps.clock.sleep(LOOK_EVERY_MS, call.signal).catch(() => undefined);
  }
  return perform(getResearchResults, app.deps, { task_id: taskId, section: "all" }, call);
}

const statusFields = z.object({
  progress: z.number(),
  elapsed_minutes: z.number(),
  cost_so_far: z.number().default(0),
  current_action: z.string().default(""),
  stalled_since: z.string().optional(),
});

function statusLine(status: Record<string, unknown>): string {
  const { progress, elapsed_minutes, cost_so_far, current_action, stalled_since } = statusFields.parse(status);
  const stalled = stalled_since === undefined ? "" : ` (nothing heard since ${stalled_since})`;
  return `${progress} % (estimate), ${elapsed_minutes} min, $${cost_so_far} so far: ${current_action}${stalled}`;
}
