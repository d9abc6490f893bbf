/** Live view of a run on a terminal, redrawn every second and when the window is resized. */

import type { checkResearchStatus } from "../../operations/check-research-status.ts";
import type { OperationDeps, OutputOf } from "../../operations/operation.ts";
import { cleanText, oneLine } from "../../platform/clean-text.ts";
import { newestEvents } from "../../runs/event-store.ts";
import { readActivity } from "../../runs/activity/activity.ts";
import { estimateOf, usualMinutes } from "../../runs/history/run-estimate.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import { shortId } from "../render/answer-view.ts";
import { formatCost } from "../render/durations.ts";
import { createLiveScreen } from "../render/live-screen.ts";
import { paintFor } from "../render/paint.ts";
import { runFrame, type RunState } from "../render/run-frame.ts";
import { forPeople } from "../wording.ts";

export interface RunWatch {
  show(state: RunState): void;
  /** Writes a log line that stays after the view has ended. */
  log(line: string): void;
  end(): void;
}

const REDRAW_MS = 1_000;
/** More do not fit on any screen. */
const MAX_EVENTS = 40;

export function watchRun(stream: NodeJS.WriteStream, { isDemo }: { isDemo: boolean }): RunWatch {
  const screen = createLiveScreen(stream);
  const paint = paintFor(stream);
  let state: { run: RunState; at: number } | undefined;
  const draw = (): void => {
    if (state === undefined) return;
    const { run, at } = state;
    const elapsedMs = run.elapsedMs + performance.now() - at;
    screen.draw(runFrame({ ...run, elapsedMs }, { columns: stream.columns, rows: stream.rows, paint, isDemo }));
  };
  const timer = setInterval(draw, REDRAW_MS);
  const stop = (): void => {
    screen.end();
    process.kill(process.pid, "SIGSTOP");
  };
  stream.on("resize", draw);
  // Ctrl-Z restores the terminal for the shell; `fg` redraws.
  process.on("SIGTSTP", stop).on("SIGCONT", draw);
  return {
    show: (run) => {
      state = { run, at: performance.now() };
      draw();
    },
    log: screen.keep,
    end: () => {
      clearInterval(timer);
      stream.off("resize", draw);
      process.off("SIGTSTP", stop).off("SIGCONT", draw);
      screen.end();
    },
  };
}

export type RunStatusAnswer = OutputOf<typeof checkResearchStatus>;

/** Combines the status answer, which is clean, with the run and its events, which are cleaned here. */
export async function readRunState(
  deps: Pick<OperationDeps, "clock" | "database">,
  run: Run,
  answer: RunStatusAnswer,
): Promise<RunState> {
  const now = deps.clock.now();
  const db = await deps.database();
  const events = await newestEvents(db, run.taskId, MAX_EVENTS);
  return {
    shortId: shortId(run.taskId),
    query: oneLine(run.query),
    status: answer.status,
    progress: answer.progress,
    progressIsEstimate: answer.progress_is_estimate === true,
    elapsedMs: (run.completedAt ?? now) - (run.startedAt ?? run.createdAt),
    usual: usualMinutes(run),
    ...(await activityOf(db, run)),
    // Google reports usage at the end only: until then nothing is known, which is not $0.00.
    cost: isKnown(answer.cost_so_far) ? formatCost({ ...answer, cost_usd: answer.cost_so_far }) : undefined,
    likelyUsd: estimateOf(run.estimate).usd?.likely,
    action: oneLine(forPeople(answer.current_action)),
    silentMs: answer.stalled_since === undefined ? undefined : now - Date.parse(answer.stalled_since),
    events: events.filter(isShown).map(({ kind, text }) => ({ kind, text: eventLine(kind, text) })),
  };
}

async function activityOf(db: Database, run: Run): Promise<Pick<RunState, "phase" | "searches" | "sites">> {
  if (isFinished(run.status)) return { phase: undefined, searches: 0, sites: 0 };
  const { phase, searches, sites } = await readActivity(db, run);
  return { phase: oneLine(phase), searches, sites };
}

export const isKnown = (usd: number | undefined): usd is number => usd !== undefined && usd > 0;

/** A thought with its heading in front; searches and sites without their prefix, because they have marks of their own. */
const eventLine = (kind: string, text: string): string =>
  oneLine(kind === "thought" ? text : cleanText(text).replace(/^(?:Searching|Reading|Citing): /, ""));

const SHOWN = ["search", "source", "thought", "phase"];

const isShown = ({ kind }: { kind: string }): boolean => SHOWN.includes(kind);
