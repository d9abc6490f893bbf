/** Logs for tests: one that discards everything, and one whose lines a test reads. */

import { createLog, type Log } from "../../src/platform/log.ts";

export const createTestLog = (
  write: (line: string) => unknown,
  from: "DEBUG" | "INFO" | "WARN" | "ERROR" = "DEBUG",
): Log => createLog({ from, format: "text", redact: (text) => text, write: (line) => void write(line) });

export const silentLog: Log = createTestLog(() => {}, "ERROR");
