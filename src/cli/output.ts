/** Output of the commands: the only writer to stdout outside of the MCP transport, the progress line on stderr, which log lines are shown, and the exit codes. */

import { stripVTControlCharacters } from "node:util";
import type { Environment } from "../config/environment.ts";
import type { FailureAnswer } from "../operations/perform.ts";
import { oneLine } from "../platform/clean-text.ts";
import type { LogLevel } from "../platform/log.ts";
import { cutToWidth, widthOf } from "./render/text-width.ts";
import { wrapToWidth } from "./render/words.ts";

/** Resolves when the text is written; a process that exits earlier would truncate it. */
export const print = (text: string): Promise<void> => write(process.stdout, text);

/** At a terminal lines break between words. */
export const printFailure = (text: string): Promise<void> =>
  write(process.stderr, process.stderr.isTTY ? wrappedMessage(text, process.stderr.columns || 80) : text);

/** A line that fits is left as it is, aligned columns included; colours have no width. */
export const wrappedMessage = (text: string, width: number): string =>
  text
    .split("\n")
    .map((line) => (visibleWidth(line) <= width ? line : wrappedLine(line, width)))
    .join("\n");

const visibleWidth = (text: string): number => widthOf(stripVTControlCharacters(text));

function wrappedLine(text: string, width: number): string {
  const indent = /^ */.exec(text)?.[0] ?? "";
  const lines = [""];
  for (const word of text.trim().split(/ +/)) {
    const last = lines.at(-1) ?? "";
    const longer = last === "" ? indent + word : `${last} ${word}`;
    if (last === "" || visibleWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines.join("\n");
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // A closed stream emits its own error event, so the error is ignored here.
  return new Promise((resolve) => void stream.write(text.endsWith("\n") ? text : `${text}\n`, () => resolve()));
}

let isPaged = true;

/** With `--no-pager`. */
export function printWithoutPager(): void {
  isPaged = false;
}

/** An answer; at a terminal, where it is longer than the window, through the user's pager. */
export async function printAnswer(text: string, environment: Environment): Promise<void> {
  const { stdin, stdout } = process;
  const isLonger = text.split("\n").length >= (stdout.rows || Infinity);
  if (isPaged && isLonger && stdin.isTTY && movesCursor(stdout, environment)) {
    const { showInPager } = await import("./pager.ts");
    if (await showInPager(text, environment)) return;
  }
  await print(text);
}

/** Whether cursor sequences work: a dumb terminal prints them instead. */
export const movesCursor = (stream: NodeJS.WriteStream, { TERM: terminal }: Environment): boolean =>
  stream.isTTY && terminal !== "dumb";

/** Width of an answer; undefined when stdout is not a terminal and nothing is cut. */
export const answerWidth = (): number | undefined =>
  process.stdout.isTTY ? Math.max(20, process.stdout.columns || 80) : undefined;

/** Writes log lines to stderr, or to a live view while there is one. */
export interface LogLines {
  write(line: string): void;
  /** Undefined: back to stderr. */
  divert(to: ((line: string) => void) | undefined): void;
}

export function createLogLines(
  stream: NodeJS.WriteStream = process.stderr,
  toStream: (text: string) => void = (text) => void stream.write(text),
): LogLines {
  let diverted: ((line: string) => void) | undefined;
  return {
    write: (line) => (diverted ?? toStream)(stream.isTTY ? wrappedLog(line, stream.columns || 80) : line),
    divert: (to) => {
      diverted = to;
    },
  };
}

/** A terminal would break a long line inside a word. JSON lines stay whole. */
function wrappedLog(text: string, width: number): string {
  if (text.startsWith("{")) return text;
  return text.replaceAll(/^.+$/gm, (line) => {
    const indent = /^ */.exec(line)?.[0] ?? "";
    return wrapToWidth(line, width - indent.length - 2)
      .map((part, index) => `${indent}${index === 0 ? "" : "  "}${part}`)
      .join("\n");
  });
}

export interface ProgressLine {
  show(message: string): void;
  /** Writes a text above the line. */
  above(text: string): void;
  clear(): void;
}

/** A terminal updates the seconds; a log repeats the line less often. */
const REPEAT_MS = { terminal: 1_000, log: 15_000 };
const ERASE = "\r\u001B[2K";

/** On a terminal one line that is rewritten; elsewhere one line per message. */
export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const startedAt = performance.now();
  let message = "";
  let isShown = false;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    const passed = ` (${Math.round((performance.now() - startedAt) / 1_000)} s)`;
    if (!stream.isTTY) {
      stream.write(`${message}${passed}\n`);
      return;
    }
    const room = Math.max(20, (stream.columns || 80) - 1) - passed.length;
    stream.write(`${ERASE}${cutToWidth(message, room)}${passed}`);
    isShown = true;
  };
  return {
    show: (text) => {
      // It may quote text of a model.
      message = oneLine(text);
      clearInterval(timer);
      timer = setInterval(draw, stream.isTTY ? REPEAT_MS.terminal : REPEAT_MS.log);
      draw();
    },
    above: (text) => {
      stream.write(isShown ? `${ERASE}${text}` : text);
      if (isShown) draw();
    },
    clear: () => {
      clearInterval(timer);
      if (isShown) stream.write(ERASE);
      isShown = false;
    },
  };
}

export const EXIT_CODES = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

const INPUT_CODES = ["INVALID_QUERY", "INVALID_TASK_ID", "INVALID_INPUT"];

export const failureCode = ({ error }: FailureAnswer): number =>
  INPUT_CODES.includes(error.code) ? EXIT_CODES.usage : EXIT_CODES.failed;

let isVerbose = false;

/** With `--verbose`: every line that a server would log. */
export function showLog(): void {
  isVerbose = true;
}

/** A person at a terminal reads answers, not a log; what is redirected is one. */
const isForPeople = (): boolean => process.stderr.isTTY && !isVerbose;

/** The level of a command that answers and ends. */
export const answerLogLevel = (): LogLevel => (isVerbose ? "INFO" : "WARN");

/** The level of a command that runs until it is stopped. */
export const serviceLogLevel = (): LogLevel => (isForPeople() ? "WARN" : "INFO");

/** Whether a failed attempt that is repeated automatically is logged: the outcome alone concerns a person. */
export const logsRepairs = (): boolean => !isForPeople();
