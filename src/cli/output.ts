/** The only writer of stdout outside of the protocol, and what people see on stderr. */

import type { Environment } from "../config/config.ts";
import { oneLine } from "../platform/clean-text.ts";
import { cutToWidth } from "./render/text-width.ts";

/** Done when the text has left the process: who exits before cuts a long answer short. */
export const print = (text: string): Promise<void> => write(process.stdout, text);

export const printFailure = (text: string): Promise<void> => write(process.stderr, text);

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // A reader that has gone is told by the stream's error event; here it is as good as done.
  return new Promise((resolve) => void stream.write(text.endsWith("\n") ? text : `${text}\n`, () => resolve()));
}

/** What can be drawn over. A dumb terminal shows the sequences instead of following them. */
export const movesCursor = (stream: NodeJS.WriteStream, { TERM: terminal }: Environment): boolean =>
  stream.isTTY && terminal !== "dumb";

/** How wide an answer may be; undefined: nobody looks, so nothing is cut. */
export const answerWidth = (): number | undefined =>
  process.stdout.isTTY ? Math.max(20, process.stdout.columns || 80) : undefined;

/** Log lines, which go above whatever is being drawn over at the end of the terminal. */
export interface LogLines {
  write(line: string): void;
  /** Undefined: straight to stderr. */
  divert(to: ((line: string) => void) | undefined): void;
}

export function createLogLines(): LogLines {
  let diverted: ((line: string) => void) | undefined;
  return {
    write: (line) => (diverted === undefined ? void process.stderr.write(line) : diverted(line)),
    divert: (to) => {
      diverted = to;
    },
  };
}

export interface ProgressLine {
  show(message: string): void;
  clear(): void;
}

/** A log is told again now and then that something still happens; a terminal sees the seconds pass. */
const REPEAT_MS = { terminal: 1_000, log: 15_000 };

/** On a terminal one line that is rewritten; elsewhere a line per message, so that logs stay readable. */
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const startedAt = performance.now();
  let said = "";
  let shown = false;
  let timer: NodeJS.Timeout | undefined;
  const erase = (): void => {
    if (shown) stream.write("\r\u001B[2K");
    shown = false;
  };
  const draw = (): void => {
    const passed = ` (${Math.round((performance.now() - startedAt) / 1_000)} s)`;
    if (!stream.isTTY) {
      stream.write(`${said}${passed}\n`);
      return;
    }
    const room = Math.max(20, (stream.columns || 80) - 1) - passed.length;
    stream.write(`\r\u001B[2K${cutToWidth(said, room)}${passed}`);
    shown = true;
  };
  return {
    show: (message) => {
      // It may quote what a model wrote.
      said = oneLine(message);
      clearInterval(timer);
      timer = setInterval(draw, stream.isTTY ? REPEAT_MS.terminal : REPEAT_MS.log);
      draw();
    },
    clear: () => {
      clearInterval(timer);
      erase();
    },
  };
}
