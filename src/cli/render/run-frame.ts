/** A run as a block of lines for a terminal of any size: what matters most is there on the smallest. */

import { spokenDollars, spokenDuration } from "./durations.ts";
import { type Look, type Paint, unpainted } from "./paint.ts";
import { cutToWidth, wrapToLines } from "./text-width.ts";

/** Everything in it is clean of what a terminal would act on. */
export interface RunState {
  query: string;
  status: string;
  /** 0 to 100. */
  progress: number;
  progressIsEstimate: boolean;
  elapsedMs: number;
  likelyMinutesLeft: number | undefined;
  /** As an answer states it, with its marks; undefined while it is not known. */
  cost: string | undefined;
  likelyUsd: number | undefined;
  action: string;
  /** How long nothing has been heard; undefined while all is well. */
  silentMs: number | undefined;
  /** What was looked for and thought, oldest first. */
  events: { kind: string; text: string }[];
}

export interface FrameSpace {
  columns: number;
  rows: number;
  paint?: Paint;
}

const MOST_COLUMNS = 100;
const MOST_QUESTION_LINES = 3;
const MOST_EVENT_LINES = 3;
const LEAVING = "Ctrl-C leaves this view; the research goes on.";

const STATES: Record<string, { said: string; look: Look }> = {
  pending: { said: "Waiting", look: "careful" },
  running: { said: "Working", look: "accent" },
  running_async: { said: "Researching", look: "accent" },
  start_unknown: { said: "Start unknown", look: "careful" },
  completed: { said: "Completed", look: "good" },
  failed: { said: "Failed", look: "bad" },
  cancelled: { said: "Cancelled", look: "careful" },
};

export const stateOf = (status: string): { said: string; look: Look } =>
  STATES[status] ?? { said: status, look: "faint" };

/** Never as many lines as the screen has: the last one would scroll it. */
export function runFrame(run: RunState, { columns, rows, paint = unpainted }: FrameSpace): string[] {
  const width = Math.max(8, Math.min(columns - 1, MOST_COLUMNS));
  const room = Math.max(1, rows - 1);
  const question = wrapToLines(run.query, width, Math.min(MOST_QUESTION_LINES, Math.max(1, room - 4)));
  const head = [
    ...question.map((line) => paint("strong", line)),
    progressLine(run, width, paint),
    ...figureLines(run, width).map((line) => paint("faint", line)),
    ...warningLines(run, width).map((line) => paint("careful", line)),
  ];
  const now = wrapToLines(`Now: ${run.action}`, width, room - head.length > 6 ? 2 : 1);
  const foot = paint("faint", cutToWidth(LEAVING, width));
  const essential = [...head, ...now].slice(0, room);
  const left = room - essential.length;
  if (left < 1) return essential;
  // A line between the parts, where there is room for a line between and one to say.
  const story = left >= 4 ? storyLines(run, { width, most: left - 3, paint }) : [];
  return [...essential, ...(story.length > 0 ? ["", ...story, ""] : []), foot];
}

function progressLine({ status, progress, progressIsEstimate }: RunState, width: number, paint: Paint): string {
  const { said, look } = stateOf(status);
  const percent = `${Math.round(progress)} %`;
  const figure =
    progressIsEstimate && width >= 50 ? `${percent} (estimate)` : progressIsEstimate ? `~${percent}` : percent;
  const cells = Math.min(40, width - said.length - figure.length - 4);
  if (cells < 4) return cutToWidth(`${said}  ${figure}`, width);
  const full = Math.round((cells * Math.min(100, Math.max(0, progress))) / 100);
  return `${paint(look, said)}  ${paint(look, "█".repeat(full))}${paint("faint", "░".repeat(cells - full))}  ${figure}`;
}

function figureLines({ elapsedMs, likelyMinutesLeft, cost: spent, likelyUsd }: RunState, width: number): string[] {
  const time = [
    spokenDuration(elapsedMs),
    ...(likelyMinutesLeft === undefined ? [] : [`about ${likelyMinutesLeft} min left`]),
  ].join(", ");
  const cost = [
    ...(spent === undefined ? [] : [`${spent} so far`]),
    ...(likelyUsd === undefined ? [] : [`about ${spokenDollars(likelyUsd)} in all`]),
  ].join(", ");
  const parts = [time, cost].filter((part) => part !== "");
  const joined = parts.join(" · ");
  return wrapToLines(joined, width, 1)[0] === joined ? [joined] : parts.map((part) => cutToWidth(part, width));
}

const warningLines = ({ silentMs }: RunState, width: number): string[] =>
  silentMs === undefined
    ? []
    : wrapToLines(
        `Nothing heard for ${spokenDuration(silentMs)}: it may be stuck. cancel-research stops it.`,
        width,
        2,
      );

interface StorySpace {
  width: number;
  most: number;
  paint: Paint;
}

/** The newest last, as many as there is room for. */
function storyLines({ events }: RunState, { width, most, paint }: StorySpace): string[] {
  const lines: string[] = [];
  for (const { kind, text } of events.toReversed()) {
    const wrapped = wrapToLines(text, width - 2, Math.min(MOST_EVENT_LINES, most));
    if (lines.length + wrapped.length > most) break;
    const [mark, look]: [string, Look | undefined] = kind === "search" ? ["›", "accent"] : ["·", undefined];
    const shown = wrapped.map((line, index) => {
      const whole = `${index === 0 ? mark : " "} ${line}`;
      return look === undefined ? whole : paint(look, whole);
    });
    lines.unshift(...shown);
  }
  return lines;
}
