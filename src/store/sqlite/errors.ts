/** Translates errors of node:sqlite into `AppError` with a suggestion for the user. */

import { accessSync, constants, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../errors.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

const SQLITE_PERM = 3;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** Another connection holds the lock that this statement needs. */
export const isBusy = (error: unknown): boolean => resultCode(error) === SQLITE_BUSY;

export function storageError(error: unknown, file?: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return error;
  // Without room for the index of the log, SQLite reports an input/output error.
  const mayBeFull = [SQLITE_IOERR, SQLITE_CANTOPEN].includes(code) && file !== undefined && isFull(file);
  if (code === SQLITE_FULL || mayBeFull) return diskFull(error, file);
  if ([SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN].includes(code)) return notWritable(error, file);
  const isLocked = code === SQLITE_BUSY;
  return new AppError({
    code: "SQLITE_ERROR",
    message: isLocked ? "Another program has kept the database locked for too long." : "A database request failed.",
    suggestion: isLocked
      ? "Try again in a moment. If it stays locked, end the program that has the file open for writing."
      : `Check ${file ?? "the database"} with \`gemini-search-mcp doctor\`, or set GEMINI_SEARCH_CONFIG_DIR.`,
    cause: error,
  });
}

function notWritable(cause: unknown, file: string | undefined): AppError {
  const denial = file === undefined ? undefined : denialOf(file);
  return new AppError({
    code: "SQLITE_ERROR",
    message: `The database ${denial === undefined ? "cannot be written" : `${file} cannot be written: ${denial.why}`}.`,
    suggestion: denial?.advice ?? "Check the config directory and its permissions, or set GEMINI_SEARCH_CONFIG_DIR.",
    cause,
  });
}

/** Asks the system, because SQLite does not tell why it cannot write. */
export function denialOf(file: string): { why: string; advice: string } | undefined {
  for (const path of [file, dirname(file)]) {
    try {
      accessSync(path, constants.W_OK);
    } catch (error) {
      const code = errorCodeOf(error);
      const elsewhere = "or set GEMINI_SEARCH_CONFIG_DIR";
      if (code === "EROFS") {
        return { why: "its file system is mounted read-only", advice: `Mount it writable, ${elsewhere}.` };
      }
      if (code === "EACCES" || code === "EPERM") {
        const why = `this user has no write permission for ${path}`;
        return { why, advice: `Give this user write permission for ${path}, ${elsewhere}.` };
      }
    }
  }
  return undefined;
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

/** Less than SQLite needs to begin a log. */
const isFull = (file: string): boolean => (availableBytes(file) ?? Infinity) < 100_000;

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
