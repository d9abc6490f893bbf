/** Translates errors of node:sqlite into `AppError` with a suggestion for the user. */

import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../errors.ts";

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** Another connection holds the lock that this statement needs. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE_BUSY;

/** A stored integer cannot be represented as a JavaScript number. */
export const isOutOfRange = (error: unknown): boolean =>
  error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE";

export function storageError(error: unknown, file?: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return error;
  if (code === SQLITE_FULL) return diskFull(error, file);
  return new AppError({
    code: "SQLITE_ERROR",
    message: messageOf(code),
    suggestion:
      code === SQLITE_BUSY
        ? "Try again in a moment. If it stays locked, end the program that has the file open for writing."
        : "Check the config directory and its permissions, or set GEMINI_SEARCH_CONFIG_DIR.",
    cause: error,
  });
}

function messageOf(code: number): string {
  if (code === SQLITE_BUSY) return "Another program has kept the database locked for too long.";
  const isDenied = code === SQLITE_READONLY || code === SQLITE_CANTOPEN;
  return isDenied ? "The database cannot be written." : "A database request failed.";
}

function diskFull(error: unknown, file: string | undefined): AppError {
  const available = file === undefined ? undefined : availableBytes(file);
  const space = available === undefined ? "" : ` ${available.toLocaleString("en-US")} bytes are available.`;
  return new AppError({
    code: "DISK_FULL",
    message: `The database${file === undefined ? "" : ` ${file}`} cannot grow because the disk is full.${space}`,
    suggestion: "Free some space on the disk with the config directory.",
    details: {
      ...(file === undefined ? {} : { path: file }),
      ...(available === undefined ? {} : { available_bytes: available }),
    },
    cause: error,
  });
}

function availableBytes(file: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** The primary result code, which is the low byte of an extended one. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}
