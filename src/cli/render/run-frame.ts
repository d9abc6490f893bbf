/** Renders a run as lines for a terminal of any size; the smallest shows the most important lines. */

import { activityCounts } from "../../runs/activity/counts.ts";
import { minutesLeft, timeLeftText, type UsualMinutes } from "../../runs/activity/time-left.ts";
import { formatDollars, formatDuration } from "./durations.ts";
import { type Style, type Paint, unpainted } from "./paint.ts";
import { cutToWidth, wrapToLines } from "./text-width.ts";

/** All texts are clean of terminal control sequences. */
export interface RunState {
  shortId: string;
  query: string;
  status: string;
  /** 0 to 100; 0 while nothing of the work was seen. */
  progress: number;
  progressIsEstimate: boolean;
  elapsedMs: number;
  /** The minutes that such runs take. */
  usual: UsualMinutes;
  /** What it is doing, such as "Searching"; undefined unless it is running. */
  phase: string | undefined;
  searches: number;
  sites: number;
  /** Formatted, with its marks; undefined while none is known. */
  cost: string | undefined;
  likelyUsd: number | undefined;
  action: string;
  /** Time since the last event of a stalled run; undefined while it is not stalled. */
  silentMs: number | undefined;
  /** Searches, sites and thoughts, oldest first. */
  events: { kind: string; text: string }[];
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

const STATES: Record<string, { label: string; style: Style }> = {
  pending: { label: "Waiting", style: "careful" },
  running: { label: "Working", style: "accent" },
  running_async: { label: "Researching", style: "accent" },
  start_unknown: { label: "Unconfirmed start", style: "careful" },
  awaiting_approval: { label: "Waiting for approval", style: "careful" },
  completed: { label: "Completed", style: "good" },
  failed: { label: "Failed", style: "bad" },
  cancelled: { label: "Cancelled", style: "careful" },
};

export const stateOf = (status: string): { label: string; style: Style } =>
  STATES[status] ?? { label: status, style: "faint" };

/** Returns fewer lines than the screen has, because a full last line would scroll it. */
export function runFrame(run: RunState, { columns, rows, paint = unpainted, isDemo = false }: FrameSpace): string[] {
  const width = Math.max(8, Math.min(columns - 1, MAX_COLUMNS));
  const room = Math.max(1, rows - 1);
  const question = wrapToLines(run.query, width, Math.min(MAX_QUESTION_LINES, Math.max(1, room - 4)));
  const head = [
    ...question.map((line) => paint("strong", line)),
    progressLine(run, width, paint),
    ...(rows < MIN_ACTIVITY_ROWS ? [] : activityLines(run, width)),
    ...figureLines(run, width).map((line) => paint("faint", line)),
    ...warningLines(run, width).map((line) => paint("careful", line)),
  ];
  const now = wrapToLines(`Now: ${run.action}`, width, room - head.length > 6 ? 2 : 1);
  const foot = paint("faint", cutToWidth(isDemo ? DEMO_FOOTER : FOOTER, width));
  const essential = [...head, ...now].slice(0, room);
  const left = room - essential.length;
  if (left < 1) return essential;
  // The events need at least four lines: one for an event and three for the empty lines around it and the footer.
  const events = left >= 4 ? eventLines(run, { width, maxLines: left - 3, paint }) : [];
  return [...essential, ...(events.length > 0 ? ["", ...events, ""] : []), foot];
}

function progressLine({ status, progress, progressIsEstimate }: RunState, width: number, paint: Paint): string {
  const { label, style } = stateOf(status);
  // A bar at 0 would look stuck, although only nothing was seen yet.
  if (progress === 0) return paint(style, cutToWidth(label, width));
  const percent = `${Math.round(progress)} %`;
  const figure =
    progressIsEstimate && width >= 50 ? `${percent} (estimate)` : progressIsEstimate ? `~${percent}` : percent;
  const cells = Math.min(40, width - label.length - figure.length - 4);
  if (cells < 4) return cutToWidth(`${label}  ${figure}`, width);
  const full = Math.round((cells * Math.min(100, Math.max(0, progress))) / 100);
  return `${paint(style, label)}  ${paint(style, "█".repeat(full))}${paint("faint", "░".repeat(cells - full))}  ${figure}`;
}

function activityLines({ phase, searches, sites }: RunState, width: number): string[] {
  if (phase === undefined) return [];
  return [cutToWidth([phase, activityCounts({ searches, sites }) ?? []].flat().join(" · "), width)];
}

function figureLines(run: RunState, width: number): string[] {
  const { elapsedMs, progress, usual, phase, cost: spent, likelyUsd } = run;
  const time = [
    formatDuration(elapsedMs),
    ...(phase === undefined ? [] : [timeLeftText(minutesLeft({ progress, elapsedMs, usual }))]),
  ].join(", ");
  const cost = [
    ...(spent === undefined ? [] : [`${spent} so far`]),
    ...(likelyUsd === undefined ? [] : [`about ${formatDollars(likelyUsd)} total`]),
  ].join(", ");
  const parts = [time, cost].filter((part) => part !== "");
  const joined = parts.join(" · ");
  return wrapToLines(joined, width, 1)[0] === joined ? [joined] : parts.map((part) => cutToWidth(part, width));
}

const warningLines = ({ silentMs, shortId }: RunState, width: number): string[] =>
  silentMs === undefined
    ? []
    : wrapToLines(
        `No activity for ${formatDuration(silentMs)}; it may be stuck. To stop it: gemini-search-mcp stop ${shortId}`,
        width,
        2,
      );

interface EventSpace {
  width: number;
  maxLines: number;
  paint: Paint;
}

const MARKS: Record<string, [mark: string, style: Style]> = { search: ["›", "accent"], source: ["+", "good"] };

/** The newest events that fit, oldest first. */
function eventLines({ events }: RunState, { width, maxLines, paint }: EventSpace): string[] {
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
