/** Which log lines a command shows. */

import type { LogLevel } from "../platform/log.ts";

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
