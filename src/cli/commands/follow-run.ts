/** Waits for the end of a background run: with a live view on a terminal, else with a line per change. */

import type { App } from "../../app.ts";
import { isDemo } from "../../config/config.ts";
import { costFields } from "../../costs/actual.ts";
import { checkResearchStatus } from "../../operations/check-research-status.ts";
import { getResearchResults } from "../../operations/get-research-results.ts";
import type { Call, OutputOf } from "../../operations/operation.ts";
import { isOver } from "../../operations/parts/follow-run.ts";
import { type Outcome, perform } from "../../operations/perform.ts";
import { waitForRun } from "../../runs/history/read.ts";
import type { Run } from "../../runs/run.ts";
import { watchProgress } from "../../runs/streams/watched-streams.ts";
import { type LogLines, movesCursor, printFailure, type ProgressLine, widthOfMessages } from "../output.ts";
import { type Command, nextCommands, shell, shortId } from "../render/answer-view.ts";
import { formatCost } from "../render/durations.ts";
import { paintFor } from "../render/paint.ts";
import { isKnown } from "../render/run-frame.ts";
import type { Status } from "../render/answers/run-views.ts";
import { readFrame, watchRun } from "./watch-run.ts";

const POLL_INTERVAL_MS = 1_000;

export interface Following {
  taskId: string;
  call: Call;
  log: LogLines;
}

/** How the wait ended: with the report, or the error why there is none; or with Ctrl-C, while the run continues. */
export type Followed =
  | { isOver: true; outcome: Outcome<OutputOf<typeof getResearchResults>> }
  | { isOver: false; outcome: Outcome<Status> };

/** Ctrl-C ends the waiting, not the research. */
export async function followRun(app: App, { taskId, call, log }: Following): Promise<Followed> {
  const stream = createStreamWatch(app);
  const seen = movesCursor(process.stderr, app.config.environment);
  const readStatus = () => perform(checkResearchStatus, app.deps, { input: { task_id: taskId }, call });
  const show = seen ? liveView(app, log) : changeLines(call, readStatus);
  try {
    for (;;) {
      const run = await app.deps.findRun(call.owner, taskId);
      if (isOver(app.deps, run)) break;
      if (call.signal.aborted) {
        await show.end();
        if (!isDemo(app.config)) await printFailure(await stillRunning(app, run));
        return { isOver: false, outcome: await readStatus() };
      }
      await stream.watch(run);
      await show.change(run);
      await app.deps.clock.sleep(POLL_INTERVAL_MS, call.signal).catch(() => undefined);
    }
  } finally {
    stream.end();
    await show.end();
  }
  return { isOver: true, outcome: await perform(getResearchResults, app.deps, { input: { task_id: taskId }, call }) };
}

/**
 * Opens the progress stream of a background run, once per interaction: one that ended without news is not opened again.
 */
function createStreamWatch(app: App): { watch(run: Run): Promise<void>; end(): void } {
  let watched: { interactionId: string; unwatch: () => void } | undefined;
  let runner: Awaited<ReturnType<App["startPolling"]>> | undefined;
  return {
    watch: async (run) => {
      const { interactionId } = run;
      if (run.kind !== "agent") return;
      runner ??= await app.startPolling();
      if (interactionId === undefined || interactionId === watched?.interactionId) return;
      watched?.unwatch();
      watched = { interactionId, unwatch: watchProgress(runner, run) };
    },
    end: () => watched?.unwatch(),
  };
}

interface ProgressView {
  change(run: Run): Promise<void>;
  end(): Promise<void>;
}

/** A search ends with its process; research continues at Google, and whatever reads it next collects its report. */
async function stillRunning({ deps }: App, { taskId, kind, enableNotifications }: Run): Promise<string> {
  const watch: Command = ["Watch it again", `watch ${shortId(taskId)}`];
  const space = { paint: paintFor(process.stderr), width: widthOfMessages() };
  if (kind !== "agent") return `Still running in the process that started it.\n${nextCommands([watch], space)}`;
  const isNotified = enableNotifications && (await deps.canNotify());
  const told = isNotified ? " and shows a desktop notification" : "";
  return `Still running at Google. An open assistant, a server or a worker collects the report${told}; otherwise your next command that reads it does (list, show, save …).
${nextCommands([watch, [isNotified ? "Be notified" : "Collect it", "worker --until-idle"]], space)}`;
}

function liveView({ deps, config }: App, log: LogLines): ProgressView {
  const view = watchRun(process.stderr, { isDemo: isDemo(config) });
  log.divert(view.log);
  return {
    change: async (run) => view.show(await readFrame(deps, run)),
    end: async () => {
      log.divert(undefined);
      view.end();
    },
  };
}

function changeLines(call: Call, readStatus: () => Promise<Outcome<Status>>): ProgressView {
  let printed = "";
  return {
    change: async () => {
      const status = await readStatus();
      if (status.failed) return;
      const { line, mark } = statusLine(status.structured);
      if (mark === printed) return;
      printed = mark;
      call.progress(line);
    },
    end: async () => {},
  };
}

/** The line to print, and what of it counts as a change: everything but the passing time. */
function statusLine(answer: Status): { line: string; mark: string } {
  const { status, progress, current_action, stalled_since, cost_so_far, cost_incomplete, cost_estimated } = answer;
  const percent = progress === 0 ? "" : `${progress} % (estimate), `;
  // Google reports usage at the end only: until then nothing is known.
  const cost = isKnown(cost_so_far)
    ? `, ${formatCost({ cost_usd: cost_so_far, cost_incomplete, cost_estimated })}`
    : "";
  const stalled = stalled_since === undefined ? "" : ` (no activity since ${stalled_since})`;
  const line = `${percent}${answer.elapsed_minutes} min${cost}: ${current_action}${stalled}`;
  const marks = [status, progress, cost_so_far, cost_incomplete, cost_estimated, current_action, stalled_since];
  return { line, mark: JSON.stringify(marks) };
}

/** Longer than the first two intervals after which it is polled for. */
const MAX_USAGE_WAIT_MS = 16_000;

const isCounted = ({ kind, status, usageFinal }: Run): boolean =>
  kind !== "agent" || status !== "completed" || usageFinal;

/** Waits for the cost, which Google reports some seconds after the report, and prints it. Ctrl-C ends the wait. */
export async function collectUsage(
  app: App,
  { taskId, call, line }: { taskId: string; call: Call; line: ProgressLine },
): Promise<void> {
  const { deps, config } = app;
  const wanted = { owner: call.owner, taskId };
  if (isDemo(config) || isCounted(await deps.findRun(call.owner, taskId))) return;
  line.show("Waiting for Google to report the cost; Ctrl-C skips this");
  const wait = { ...wanted, until: isCounted, ms: MAX_USAGE_WAIT_MS, signal: call.signal };
  const { usageFinal, tokens, cost } = await waitForRun(await deps.database(), deps.clock, wait);
  line.clear();
  const count = (tokens.input + tokens.output).toLocaleString("en-US");
  await printFailure(
    usageFinal
      ? `Cost: ${count} tokens · ${formatCost(costFields(cost))}`
      : `Google has not reported the cost yet. ${shell(`show ${shortId(taskId)}`)} shows it later.`,
  );
}
