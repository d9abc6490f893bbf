/** Unreadable rows: each is logged once per process and fails only the calls for its own run. */

import type { z } from "zod";
import { AppError } from "../errors.ts";

/** Limits memory when a database is full of damaged rows. */
const MAX_REMEMBERED = 10_000;
const reported = new Set<string>();
let unreported: string[] = [];

export function noteUnreadable(taskId: string): void {
  if (reported.has(taskId) || reported.size >= MAX_REMEMBERED) return;
  reported.add(taskId);
  unreported.push(taskId);
}

/** Runs found unreadable since the last call, each once per process. */
export function takeUnreadable(): string[] {
  const taken = unreported;
  unreported = [];
  return taken;
}

export function unreadableRun(taskId: string, cause?: unknown): AppError {
  noteUnreadable(taskId);
  return new AppError({
    code: "SQLITE_ERROR",
    message: "The stored data of this run is damaged and cannot be read. Other runs are not affected.",
    suggestion: "Restore the database from a backup, or repair this run's row; its interaction may still be at Google.",
    cause,
  });
}

/** Parses stored JSON, with a fallback for damaged data that must not make the whole run unreadable. */
export function storedJson<Value>(text: string | null, schema: z.ZodType<Value>, fallback: Value): Value {
  try {
    return schema.parse(JSON.parse(text ?? ""));
  } catch {
    return fallback;
  }
}
