/** Renders a run as lines for a terminal of any size; the smallest shows the most important lines. */

import type { RunLive } from "../../operations/view/run-view.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { activityCounts, minutesLeft, timeLeftText } from "../../runs/activity/time-left.ts";
import { type RunStatus, STATUS_LABELS } from "../../runs/run.ts";
import { shell, shortId } from "./answer-view.ts";
import { formatCost, formatDuration } from "./durations.ts";
import { formatDollars } from "../../costs/dollars.ts";
import { type Paint, type Style, unpainted } from "./paint.ts";
import { cutToWidth } from "./text-width.ts";
import { wrapToLines } from "./words.ts";

/** All texts are clean of terminal control sequences. */
export interface Frame {
  run: RunLive;
  /** Searches, sites and thoughts, oldest first. */
  events: { kind: string; text: string }[];
  now: number;
}

export interface FrameSpace {
  columns: number;
  rows: number;
  paint?: Paint;
  /** The simulated research ends with the program. */
  isDemo?: boolean;
}

const MAX_COLUMNS = 100;
const MAX_QUESTION_LINES = 3;
const MAX_EVENT_LINES = 3;
/** A smaller window shows the state, the times and the action. */
const MIN_ACTIVITY_ROWS = 8;
const FOOTER = "Press Ctrl-C to leave. The research keeps running.";
const DEMO_FOOTER = "Press Ctrl-C to end the demo.";

const STYLES: Record<RunStatus, Style> = {
  pending: "careful",
  running: "accent",
  running_async: "accent",
  start_unknown: "careful",
  awaiting_approval: "careful",
  completed: "good",
  failed: "bad",
  cancelled: "careful",
};

export const stateOf = (status: RunStatus): { label: string; style: Style } => ({
  label: STATUS_LABELS[status],
  style: STYLES[status],
});

/** Returns fewer lines than the screen has, because a full last line would scroll it. */
export function runFrame(frame: Frame, { columns, rows, paint = unpainted, isDemo = false }: FrameSpace): string[] {
  const { run } = frame;
  const width = Math.max(8, Math.min(columns - 1, MAX_COLUMNS));
  const room = Math.max(1, rows - 1);
  const question = wrapToLines(oneLine(run.query), width, Math.min(MAX_QUESTION_LINES, Math.max(1, room - 4)));
  const head = [
    ...question.map((line) => paint("strong", line)),
    progressLine(run, width, paint),
    ...(rows < MIN_ACTIVITY_ROWS ? [] : activityLines(run, width)),
    ...figureLines(frame, width).map((line) => paint("faint", line)),
    ...warningLines(frame, width).map((line) => paint("careful", line)),
  ];
  const now = wrapToLines(`Now: ${oneLine(run.current_action)}`, width, room - head.length > 6 ? 2 : 1);
  const foot = paint("faint", cutToWidth(isDemo ? DEMO_FOOTER : FOOTER, width));
  const essential = [...head, ...now].slice(0, room);
  const left = room - essential.length;
  if (left < 1) return essential;
  // The events need at least four lines: one for an event and three for the empty lines around it and the footer.
  const events = left >= 4 ? eventLines(frame, { width, maxLines: left - 3, paint }) : [];
  return [...essential, ...(events.length > 0 ? ["", ...events, ""] : []), foot];
}

function progressLine(
  { status, progress, progress_is_estimate: isEstimate }: RunLive,
  width: number,
  paint: Paint,
): string {
  const { label, style } = stateOf(status);
  // A bar at 0 would look stuck, although only nothing was seen yet.
  if (progress === 0) return paint(style, cutToWidth(label, width));
  const percent = `${Math.round(progress)} %`;
  const figure = isEstimate && width >= 50 ? `${percent} (estimate)` : isEstimate ? `~${percent}` : percent;
  const cells = Math.min(40, width - label.length - figure.length - 4);
  if (cells < 4) return cutToWidth(`${label}  ${figure}`, width);
  const full = Math.round((cells * Math.min(100, Math.max(0, progress))) / 100);
  return `${paint(style, label)}  ${paint(style, "█".repeat(full))}${paint("faint", "░".repeat(cells - full))}  ${figure}`;
}

const activityLines = ({ activity }: RunLive, width: number): string[] =>
  activity === undefined
    ? []
    : [cutToWidth([oneLine(activity.phase), activityCounts(activity) ?? []].flat().join(" · "), width)];

function figureLines({ run, now }: Frame, width: number): string[] {
  const { progress, started_at: startedAt = run.created_at, usual_minutes: usual, estimate = {} } = run;
  const { min_usd: min, likely_usd: likely = run.estimated_usd, max_usd: max } = estimate;
  const elapsedMs = now - Date.parse(startedAt);
  const time = [
    formatDuration(elapsedMs),
    ...(usual === undefined ? [] : [timeLeftText(minutesLeft({ progress, elapsedMs, usual }))]),
  ].join(", ");
  const cost = [
    // Google reports usage at the end only: until then nothing is known, which is not $0.00.
    ...(isKnown(run.cost_usd) ? [`${formatCost(run)} so far`] : []),
    ...(likely === undefined ? [] : [totalText({ min_usd: min, likely_usd: likely, max_usd: max })]),
  ].join(", ");
  const parts = [time, cost].filter((part) => part !== "");
  const joined = parts.join(" · ");
  return wrapToLines(joined, width, 1)[0] === joined ? [joined] : parts.map((part) => cutToWidth(part, width));
}

interface ExpectedCost {
  min_usd?: number | undefined;
  likely_usd: number;
  max_usd?: number | undefined;
}

/** What the whole run is expected to cost. */
export function totalText({ min_usd: min, likely_usd: likely, max_usd: max }: ExpectedCost): string {
  const about = `about ${formatDollars(likely)}`;
  const isRange = min !== undefined && max !== undefined && min < max;
  return isRange ? `${about} total (${formatDollars(min)} to ${formatDollars(max)})` : `${about} total`;
}

export const isKnown = (usd: number | undefined): usd is number => usd !== undefined && usd > 0;

function warningLines({ run: { task_id: taskId, stalled_since: since }, now }: Frame, width: number): string[] {
  if (since === undefined) return [];
  const silent = formatDuration(now - Date.parse(since));
  return wrapToLines(
    `No activity for ${silent}; it may be stuck. To cancel it: ${shell(`cancel ${shortId(taskId)}`)}`,
    width,
    2,
  );
}

interface EventSpace {
  width: number;
  maxLines: number;
  paint: Paint;
}

const MARKS: Record<string, [mark: string, style: Style]> = { search: ["›", "accent"], source: ["+", "good"] };

/** The newest events that fit, oldest first. */
function eventLines({ events }: Frame, { width, maxLines, paint }: EventSpace): string[] {
  const lines: string[] = [];
  for (const { kind, text } of events.toReversed()) {
    const wrapped = wrapToLines(text, width - 2, Math.min(MAX_EVENT_LINES, maxLines));
    if (lines.length + wrapped.length > maxLines) break;
    const [mark, style] = MARKS[kind] ?? ["·", undefined];
    const shown = wrapped.map((line, index) => {
      const whole = `${index === 0 ? mark : " "} ${line}`;
      return style === undefined ? whole : paint(style, whole);
    });
    lines.unshift(...shown);
  }
  return lines;
}
