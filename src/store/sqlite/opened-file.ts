/**
 * The handles on an open database file, which are no longer written once its files are removed or replaced: what is
 * written to them then would be lost when the process exits.
 */

import { statSync } from "node:fs";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { closeHandles, type Handles, type HandleSource } from "./driver.ts";

export function openedFile(file: string, handles: Handles, log: Log): HandleSource {
  const opened = inodesOf(file);
  let isLogged = false;
  const isReplaced = (): boolean => inodesOf(file).some((inode, n) => opened[n] !== undefined && inode !== opened[n]);
  const forWriting = (): Handles => {
    if (!isReplaced()) return handles;
    const error = replaced(file);
    if (!isLogged) log.error(`${error.message} ${error.suggestion ?? ""}`);
    isLogged = true;
    throw error;
  };
  return {
    file,
    forReading: () => handles,
    reopenForReading: () => handles,
    forWriting,
    // SQLite copies the log into the file when the last connection closes, unless that one is read-only: pages of a
    // removed log would damage a backup that was copied over the file.
    close: () => {
      if (isReplaced()) handles.writer.close();
      closeHandles(handles);
    },
  };
}

/** Of the file, its write-ahead log and the index of the log. */
const inodesOf = (file: string): (string | undefined)[] =>
  ["", "-wal", "-shm"].map((suffix) => {
    const stats = statSync(file + suffix, { throwIfNoEntry: false, bigint: true });
    return stats && `${stats.dev}:${stats.ino}`;
  });

const replaced = (file: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The database ${file} was removed or replaced while it was open. Nothing is written to it.`,
    suggestion: "Restart: the file that is there by then is used, or a new one.",
  });
