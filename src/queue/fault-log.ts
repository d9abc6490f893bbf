/** Logs errors of pg-boss and of the job handlers, at most once a minute per source. */

import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { databaseError } from "../store/postgres/driver.ts";

export type FaultLog = (source: string, error: unknown) => void;

const WARN_AGAIN_MS = 60_000;

/** Rate-limited, because every fetch fails while the database is unavailable. */
export function createFaultLog(log: Log): FaultLog {
  const warnedAt = new Map<string, number>();
  return (source, error) => {
    const now = performance.now();
    if (now - (warnedAt.get(source) ?? -Infinity) < WARN_AGAIN_MS) return;
    warnedAt.set(source, now);
    log.warn(`${source}: ${reasonOf(error)} Retrying.`);
  };
}

/** Errors of the driver and the server have a code and are translated; any other error is a bug and logged as is. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && !(error instanceof AppError) && !("code" in error)
    ? `${error.name}: ${error.message}.`
    : databaseError(error).message;
