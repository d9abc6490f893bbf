/** Live view of a run on a terminal, redrawn every second and when the window is resized. */

import type { checkResearchStatus } from "../../operations/check-research-status.ts";
import type { OperationDeps, OutputOf } from "../../operations/operation.ts";
import { readLive } from "../../operations/view/read-view.ts";
import { cleanText, cleanValue, oneLine } from "../../platform/clean-text.ts";
import { newestEvents } from "../../runs/event-store.ts";
import type { Run } from "../../runs/run.ts";
import { paintFor } from "../render/paint.ts";
import { type Frame, runFrame } from "../render/run-frame.ts";

interface RunWatch {
  show(frame: Frame): void;
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
  let state: { frame: Frame; at: number } | undefined;
  const draw = (): void => {
    if (state === undefined) return;
    const { frame, at } = state;
    const now = frame.now + performance.now() - at;
    screen.draw(runFrame({ ...frame, now }, { columns: stream.columns, rows: stream.rows, paint, isDemo }));
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
    show: (frame) => {
      state = { frame, at: performance.now() };
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

interface LiveScreen {
  /** Draws in one write, so that the terminal never shows half of it. */
  draw(lines: string[]): void;
  /** Writes text that stays: once the previous screen is restored. */
  keep(text: string): void;
  /** Restores screen and cursor; the next draw() takes them again. */
  end(): void;
}

const OPEN = "\u001B[?1049h\u001B[?25l";
const CLOSE = "\u001B[?25h\u001B[?1049l";
const TO_TOP = "\u001B[H";
const ERASE_LINE_END = "\u001B[K";
const ERASE_BELOW = "\u001B[J";

function createLiveScreen(stream: Pick<NodeJS.WriteStream, "write">): LiveScreen {
  let kept = "";
  let open = false;
  const end = (): void => {
    if (!open) return;
    open = false;
    process.off("exit", end);
    stream.write(CLOSE + kept);
    kept = "";
  };
  return {
    draw: (lines) => {
      // Restores the screen even after an uncaught error; writes to a terminal are synchronous.
      if (!open) process.on("exit", end);
      const opening = open ? "" : OPEN;
      open = true;
      stream.write(`${opening}${TO_TOP}${lines.map((line) => line + ERASE_LINE_END).join("\r\n")}${ERASE_BELOW}`);
    },
    keep: (text) => {
      if (open) kept += text;
      else stream.write(text);
    },
    end,
  };
}
