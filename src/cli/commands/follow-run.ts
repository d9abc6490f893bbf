/** Waits for the end of a background run: with a live view on a terminal, else with a line per change. */

import type { App } from "../../app.ts";
import { isDemo } from "../../config/config.ts";
import { checkResearchStatus } from "../../operations/check-research-status.ts";
import { getResearchResults } from "../../operations/get-research-results.ts";
import type { Call } from "../../operations/operation.ts";
import { type Outcome, perform } from "../../operations/perform.ts";
import type { Run, RunStatus } from "../../runs/run.ts";
import { watchProgress } from "../../runs/streams/watched-streams.ts";
import { type LogLines, movesCursor, printFailure } from "../output.ts";
import { formatCost } from "../render/durations.ts";
import { readRunState, type RunStatusAnswer, watchRun } from "./watch-run.ts";

const POLL_INTERVAL_MS = 1_000;
const ENDED: readonly RunStatus[] = ["completed", "failed", "cancelled", "start_unknown"];

export interface Following {
  taskId: string;
  call: Call;
  log: LogLines;
}

/** Returns the report, or the error why there is none. Ctrl-C ends the waiting, not the research. */
export async function followRun(app: App, { taskId, call, log }: Following): Promise<Outcome> {
  const runner = await app.followResearch();
  let watched: { interactionId: string; unwatch: () => void } | undefined;
  const seen = movesCursor(process.stderr, app.config.environment);
  const show = seen ? liveView(app, log) : changeLines(call);
  try {
    for (;;) {
      const status = await perform(checkResearchStatus, app.deps, { input: { task_id: taskId }, call });
      if (status.failed) return status;
      if (call.signal.aborted) {
        await show.end();
        if (!isDemo(app.config)) await printFailure(goesOn(taskId));
        return status;
      }
      if (ENDED.includes(status.structured.status)) break;
      const run = await app.deps.findRun(call.owner, taskId);
      const { interactionId } = run;
      // Once per interaction: a stream that ended without news is not opened again.
      if (interactionId !== undefined && interactionId !== watched?.interactionId) {
        watched?.unwatch();
        watched = { interactionId, unwatch: watchProgress(runner, run) };
      }
      await show.change(status.structured, run);
      await app.deps.clock.sleep(POLL_INTERVAL_MS, call.signal).catch(() => undefined);
    }
  } finally {
    watched?.unwatch();
    await show.end();
  }
  return perform(getResearchResults, app.deps, { input: { task_id: taskId }, call });
}

interface ProgressView {
  change(status: RunStatusAnswer, run: Run): Promise<void>;
  end(): Promise<void>;
}

const goesOn = (taskId: string): string =>
  `The research goes on. To return to it: gemini-search-mcp watch ${taskId.slice(0, 8)}`;

function liveView({ deps }: App, log: LogLines): ProgressView {
  const view = watchRun(process.stderr);
  log.divert(view.log);
  return {
    change: async (status, run) => view.show(await readRunState(deps, run, status)),
    end: async () => {
      log.divert(undefined);
      view.end();
    },
  };
}

function changeLines(call: Call): ProgressView {
  let printed = "";
  return {
    change: async (status) => {
      const { line, mark } = statusLine(status);
      if (mark === printed) return;
      printed = mark;
      call.progress(line);
    },
    end: async () => {},
  };
}

/** The line to print, and what of it counts as a change: everything but the passing time. */
function statusLine(answer: RunStatusAnswer): { line: string; mark: string } {
  const { status, progress, current_action, stalled_since, cost_so_far, cost_incomplete, cost_estimated } = answer;
  const cost = formatCost({ cost_usd: cost_so_far, cost_incomplete, cost_estimated });
  const stalled = stalled_since === undefined ? "" : ` (no event since ${stalled_since})`;
  const line = `${progress} % (estimate), ${answer.elapsed_minutes} min, ${cost} so far: ${current_action}${stalled}`;
  const marks = [status, progress, cost_so_far, cost_incomplete, cost_estimated, current_action, stalled_since];
  return { line, mark: JSON.stringify(marks) };
}
