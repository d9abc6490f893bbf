/** Stored rows that cannot be read: each is reported once, answered with an error, and never stops other runs. */

import type { z } from "zod";
import { AppError } from "../errors.ts";

/** Of this process; a database full of broken rows must not fill its memory. */
const MAX_REMEMBERED = 10_000;
const reported = new Set<string>();
let waiting: string[] = [];

export function noteUnreadable(taskId: string): void {
  if (reported.has(taskId) || reported.size >= MAX_REMEMBERED) return;
  reported.add(taskId);
  waiting.push(taskId);
}

/** The runs that were found unreadable since the last call, each once in the life of this process. */
export function takeUnreadable(): string[] {
  const taken = waiting;
  waiting = [];
  return taken;
}

export function unreadableRun(taskId: string, cause?: unknown): AppError {
  noteUnreadable(taskId);
  return new AppError({
    code: "SQLITE_ERROR",
    message: "What is stored about this run is damaged and cannot be read. Other runs are not affected.",
    suggestion: "Restore the database from a backup, or repair this run's row; its interaction may still be at Google.",
    cause,
  });
}

/** Stored JSON, or the fallback where it is broken: for what is worth less than the run it belongs to. */
export function storedJson<Value>(text: string | null, schema: z.ZodType<Value>, fallback: Value): Value {
  try {
    return schema.parse(JSON.parse(text ?? ""));
  } catch {
    return fallback;
  }
}
