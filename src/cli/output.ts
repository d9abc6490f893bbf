/** Output of the commands: the only writer to stdout outside of the MCP transport, the progress line on stderr, which log lines are shown, and the exit codes. */

import { stripVTControlCharacters } from "node:util";
import type { Environment } from "../config/environment.ts";
import type { FailureAnswer } from "../operations/perform.ts";
import { oneLine } from "../platform/clean-text.ts";
import type { LogLevel } from "../platform/log.ts";
import { NAMES } from "./render/answer-view.ts";
import { cutToWidth, widthOf } from "./render/text-width.ts";
import { wrapToWidth } from "./render/words.ts";

/** Resolves when the text is written; a process that exits earlier would truncate it. */
export const print = (text: string): Promise<void> => write(process.stdout, text);

/** Prose for people, such as help; at a terminal its lines break between words. */
export const printText = (text: string): Promise<void> => write(process.stdout, wrappedFor(process.stdout, text));

/** The same on stderr. */
export const printFailure = (text: string): Promise<void> => write(process.stderr, wrappedFor(process.stderr, text));

/** A question keeps the space after it. */
export const wrappedFor = (stream: NodeJS.WriteStream, text: string): string =>
  stream.isTTY ? wrappedMessage(text, (stream.columns || 80) - (text.endsWith(" ") ? 1 : 0)) : text;

/** Undefined when stderr is not a terminal. */
export const widthOfMessages = (): number | undefined =>
  process.stderr.isTTY ? process.stderr.columns || 80 : undefined;

/**
 * A line that fits is left as it is, aligned columns included; colours have no width. A command at the end of a longer
 * line has a line of its own, unbroken: copied in two parts it would run as two.
 */
export const wrappedMessage = (text: string, width: number): string =>
  text
    .trimEnd()
    .split("\n")
    .flatMap((line) => (visibleWidth(line) <= width ? line : line.replace(LAST_COMMAND, "$1$2\n$1  $3").split("\n")))
    .map((line) => (visibleWidth(line) <= width || COMMAND.test(line) ? line : wrappedLine(line, width)))
    .join("\n") + (/\s+$/.exec(text)?.[0] ?? "");

const NAME = `(?:${NAMES.join("|")})`;
const COMMAND = new RegExp(`^ *${NAME} `);
const LAST_COMMAND = new RegExp(String.raw`^( *)(.*:) +(${NAME} (?!.*\. ).*)$`);

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
    if (await showInPager(text, environment)) return print(endOf(text));
  }
  await print(text);
}

const MAX_END_LINES = 8;

/** The last paragraphs, which have the cost, the id and the next commands: a pager that is left early does not show them. */
function endOf(text: string): string {
  const paragraphs = text.trimEnd().split("\n\n");
  const [last = ""] = paragraphs.splice(-1);
  const before = paragraphs.at(-1) ?? "";
  const both = `${before}\n\n${last}`;
  return [both, last].find((end) => end.split("\n").length <= MAX_END_LINES) ?? "";
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
