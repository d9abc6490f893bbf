/** Unreadable rows: each is logged once per process and fails only the calls for its own run. */

import { z } from "zod";
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

/** The latest time of a `Date`, in ms: formatting a later one throws. No other number of a run is as large. */
export const MAX_STORED_NUMBER = 8_640_000_000_000_000;

/** Whether the row has a number that no version of this program writes. The drivers round those beyond 2^53. */
export const hasImpossibleNumber = (row: object): boolean =>
  Object.values(row).some((value) => typeof value === "number" && !(Math.abs(value) <= MAX_STORED_NUMBER));

/** Has the code of any other error of the database, but repeating the read does not help. */
class UnreadableRunError extends AppError {}

export function unreadableRun(taskId: string, cause?: unknown): AppError {
  noteUnreadable(taskId);
  return new UnreadableRunError({
    code: "SQLITE_ERROR",
    message: "The stored data of this run is damaged and cannot be read. Other runs are not affected.",
    suggestion: "Restore the database from a backup, or repair this run's row; its interaction may still be at Google.",
    cause,
  });
}

/** Undefined if what is read is damaged or gone. Any other error is thrown: the same read may succeed later. */
export async function readUnlessDamaged<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isDamagedOrGone(error)) return undefined;
    throw error;
  }
}

const isDamagedOrGone = (error: unknown): boolean =>
  error instanceof UnreadableRunError ||
  error instanceof z.ZodError ||
  (error instanceof AppError && error.code === "TASK_NOT_FOUND");

/** JSON of any fields, such as options and metadata. */
export const anyRecord = z.record(z.string(), z.unknown());

/** Parses stored JSON, with a fallback for damaged data that must not make the whole run unreadable. */
export function storedJson<Value>(text: string | null, schema: z.ZodType<Value>, fallback: Value): Value {
  try {
    return schema.parse(JSON.parse(text ?? ""));
  } catch {
    return fallback;
  }
}
