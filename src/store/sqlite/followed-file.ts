/**
 * Handles on the file at a path, opened again when that file was replaced while it was open. Without it a server would
 * go on writing to a file that no other process can see, and what it pays for would be lost with its process.
 */

import { chmodSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../database.ts";
import { type Handles, type HandleSource, kyselyOn } from "./driver.ts";
import { changeOf, type FileChange, type FileIdentity, identify, isUntouched, whenWritten } from "./file-identity.ts";

/** What the new file has to be given of the old one. */
export interface Replacement {
  /** Reads from the old file; returns what writes it to the new one, which may have to be called more than once. */
  carryOver(from: Database): Promise<(to: Database) => Promise<void>>;
}

export interface FollowedFile extends Replacement {
  file: string;
  log: Log;
  /** Opens both handles and brings the schema up to date; throws where that cannot be done. */
  open(): Promise<Handles>;
}

interface Opened {
  handles: Handles;
  /** `written` is as this process's last write left it. */
  identity: FileIdentity;
  /** Something else wrote the file since: a checkpoint of another process, or a backup that was copied over it. */
  isWrittenByOthers: boolean;
}

/** A copy that is still being written must not be opened. */
const SETTLED_MS = 500;
const MAX_SETTLING_MS = 10_000;

export async function followFile(options: FollowedFile): Promise<HandleSource> {
  const { file, log } = options;
  let opened: Opened | undefined = await openIdentified(options);
  let carry: ((to: Database) => Promise<void>) | undefined;
  let warned: FileChange = "none";

  const warnOnce = (change: FileChange, message: string): void => {
    if (warned !== change) log.error(message);
    warned = change;
  };

  const change = (): FileChange => {
    if (opened === undefined) return "replaced";
    const found = changeOf(opened.identity, identify(file));
    if (found === "none") warned = "none";
    return found;
  };

  const reopen = async (found: FileChange): Promise<Handles> => {
    warnOnce(found, `The database ${file} was replaced while it was open. It is opened again.`);
    await settled(file);
    if (opened !== undefined) carry = await options.carryOver(kyselyOn(fixed(file, opened.handles)));
    const before = opened;
    // Within one process SQLite shares the log's index by inode: the old handles would give theirs to the new ones.
    if (before !== undefined && found === "sidecars") {
      opened = undefined;
      closeWithoutLog(options, before);
    }
    const next = await openIdentified(options);
    try {
      await carry?.(kyselyOn(fixed(file, next.handles)));
    } catch (error) {
      closeHandles(next.handles);
      throw error;
    }
    if (opened !== undefined) closeHandles(opened.handles);
    carry = undefined;
    opened = next;
    warned = "none";
    log.warn(`The database ${file} is open again. Unfinished runs were carried over.`);
    return next.handles;
  };

  return {
    file,
    forReading: () => {
      const found = change();
      if (found === "missing") warnOnce(found, missing(file));
      // What was read from a removed file is still true; nothing is written to it.
      return found === "none" || found === "missing" ? opened?.handles : undefined;
    },
    forWriting: async () => {
      const found = change();
      if (found === "none" && opened !== undefined) return opened.handles;
      if (found === "missing") {
        warnOnce(found, missing(file));
        throw unusable(missing(file));
      }
      try {
        return await reopen(found);
      } catch (error) {
        throw unusable(`The database ${file} was replaced while it was open, and cannot be opened again.`, error);
      }
    },
    writing: (write) => {
      const current = opened;
      if (current === undefined) return write();
      current.isWrittenByOthers ||= whenWritten(file) !== current.identity.written;
      try {
        return write();
      } finally {
        current.identity = { ...current.identity, written: whenWritten(file) };
      }
    },
    close: () => {
      if (opened !== undefined) closeHandles(opened.handles);
      opened = undefined;
    },
  };
}

const missing = (file: string): string => `The database ${file} was removed while it was open. Nothing is written.`;

const unusable = (message: string, cause?: unknown): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message,
    suggestion: "Put the file back, or restart the server: it begins with a new one where there is none.",
    cause,
  });

/** The path may lead to another file between the opening and the look at it. */
async function openIdentified(options: FollowedFile): Promise<Opened> {
  for (;;) {
    const before = identify(options.file);
    const handles = await options.open();
    const identity = identify(options.file);
    if (identity.database !== undefined && [undefined, identity.database].includes(before.database))
      return { handles, identity, isWrittenByOthers: false };
    closeHandles(handles);
  }
}

async function settled(file: string): Promise<void> {
  const giveUpAt = performance.now() + MAX_SETTLING_MS;
  while (performance.now() < giveUpAt) {
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age < 0 || age > SETTLED_MS) return;
    await sleep(SETTLED_MS - age + 1);
  }
}

/** The last connection that is closed writes the log into the database and removes it. */
export function closeHandles({ writer, reader }: Handles): void {
  if (reader !== writer) reader.close();
  writer.close();
}

/**
 * Closes handles whose log is gone from its path. Pages of that log go into the database only where nothing but this
 * process has written it: they would destroy a restored backup. Otherwise what the handles know is kept beside it, and
 * the reader, which may not write, is closed last, so that SQLite leaves the file alone.
 */
function closeWithoutLog({ file, log }: FollowedFile, { handles, identity, isWrittenByOthers }: Opened): void {
  if (!isWrittenByOthers && isUntouched(identity, identify(file))) {
    handles.writer.exec("pragma wal_checkpoint(passive)");
    closeHandles(handles);
    return;
  }
  keepBeside({ file, log }, handles);
  handles.writer.close();
  if (handles.reader !== handles.writer) handles.reader.close();
}

function keepBeside({ file, log }: Pick<FollowedFile, "file" | "log">, { writer }: Handles): void {
  const copy = `${file}.before-replacement-${Date.now()}`;
  try {
    writer.prepare("vacuum into ?").run(copy);
    chmodSync(copy, 0o600);
    log.warn(
      `The database ${file} was written by another process, and its log removed. What the log held is in ${copy}.`,
    );
  } catch {
    log.error(`The database ${file} was written by another process, and its log removed. What the log held is lost.`);
  }
}

/** Handles that stay what they are. */
export const fixed = (file: string, handles: Handles): HandleSource => ({
  file,
  forReading: () => (handles.reader === handles.writer ? undefined : handles),
  forWriting: () => handles,
  writing: (write) => write(),
  close: () => closeHandles(handles),
});
