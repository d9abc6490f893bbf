/** Live view of a run on a terminal. */

import type { OperationDeps } from "../../operations/operation.ts";
import { readLive } from "../../operations/view/read-view.ts";
import { cleanText, cleanValue, oneLine } from "../../platform/clean-text.ts";
import { newestEvents } from "../../runs/event-store.ts";
import type { Run } from "../../runs/run.ts";
import { type LiveView, openLiveView } from "../live-view.ts";
import { paintFor } from "../render/paint.ts";
import { type Frame, runFrame } from "../render/run-frame.ts";

interface RunWatch extends Pick<LiveView, "log" | "end"> {
  show(frame: Frame): void;
}

/** More do not fit on any screen. */
const MAX_EVENTS = 40;

export function watchRun(stream: NodeJS.WriteStream, { isDemo }: { isDemo: boolean }): RunWatch {
  const paint = paintFor(stream);
  let state: { frame: Frame; at: number } | undefined;
  const { redraw, ...view } = openLiveView(stream, () => {
    if (state === undefined) return undefined;
    const { frame, at } = state;
    const now = frame.now + performance.now() - at;
    return runFrame({ ...frame, now }, { columns: stream.columns, rows: stream.rows, paint, isDemo });
  });
  return {
    ...view,
    show: (frame) => {
      state = { frame, at: performance.now() };
      redraw();
    },
  };
}

/** The run and its newest events, clean of what could control a terminal. */
export async function readFrame(deps: OperationDeps, run: Run): Promise<Frame> {
  const events = await newestEvents(await deps.database(), run.taskId, MAX_EVENTS);
  return {
    run: cleanValue(await readLive(deps, run)),
    events: events.filter(isShown).map(({ kind, text }) => ({ kind, text: eventLine(kind, text) })),
    now: deps.clock.now(),
  };
}

/** A thought with its heading in front; searches and sites without their prefix, because they have marks of their own. */
const eventLine = (kind: string, text: string): string =>
  oneLine(kind === "thought" ? text : cleanText(text).replace(/^(?:Searching|Reading|Citing): /, ""));

const SHOWN = ["search", "source", "thought", "phase"];

const isShown = ({ kind }: { kind: string }): boolean => SHOWN.includes(kind);
