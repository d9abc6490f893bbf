/** Writes the log: stderr only, one entry per message, known secrets replaced by their names. */

import { cleanText } from "./clean-text.ts";

const LEVELS = ["DEBUG", "INFO", "WARN", "ERROR"] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  /** An INFO line that a person must see, too, where the log itself is not shown. */
  announce(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** The same log with a run id on every line. */
  forRun(taskId: string): Log;
}

export interface LogOptions {
  /** The lowest level that is written. */
  from: LogLevel;
  format: "text" | "json";
  /** Text lines end with their time and run id; JSON lines always have both. */
  timestamps?: boolean;
  /** Announcements are written without level and time when INFO lines are not shown. */
  showsAnnouncements?: boolean;
  /** Replaces secrets by their names. */
  redact: (text: string) => string;
  write?: (line: string) => void;
}

/** Errors of stderr must not end the process; the line is dropped. */
const writeToStderr = (line: string): void => {
  try {
    process.stderr.write(line);
  } catch {
    // stderr is closed.
  }
};

/**
 * At the end of the line: messages are part of the documented behaviour ("[WARN] Main search failed: …"), and what
 * matches level and message together, also from the start of the line, matches as before.
 */
const stampOf = (time: string, text: string, taskId: string | undefined): string =>
  taskId === undefined || text.includes(taskId) ? time : `${time}, run ${taskId}`;

export function createLog(options: LogOptions, taskId?: string): Log {
  const write = options.write ?? writeToStderr;
  const line = (level: LogLevel, message: string): void => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(options.from)) return;
    // Cleaned first: a secret that contains an invisible character would not be recognised.
    const text = options.redact(cleanText(message));
    const time = new Date().toISOString();
    if (options.format === "json") {
      write(`${JSON.stringify({ time, level, message: text, task_id: taskId })}\n`);
    } else {
      const [first = "", ...rest] = text.split(/\r?\n/);
      const stamp = options.timestamps === true ? ` (${stampOf(time, text, taskId)})` : "";
      write(`${[`[${level}] ${first}${stamp}`, ...rest].join("\n  ")}\n`);
    }
  };
  return {
    debug: (message) => line("DEBUG", message),
    info: (message) => line("INFO", message),
    announce: (message) => {
      const isLogged = LEVELS.indexOf("INFO") >= LEVELS.indexOf(options.from) || options.format === "json";
      if (isLogged || options.showsAnnouncements !== true) line("INFO", message);
      else write(`${options.redact(cleanText(message))}\n`);
    },
    warn: (message) => line("WARN", message),
    error: (message) => line("ERROR", message),
    forRun: (id) => createLog(options, id),
  };
}

/** The same log, in which every line is for debugging. */
export const debugOnly = (log: Log): Log => ({
  debug: log.debug,
  info: log.debug,
  announce: log.debug,
  warn: log.debug,
  error: log.debug,
  forRun: (taskId) => debugOnly(log.forRun(taskId)),
});
