/**
 * Handles on the file at a path, reopened when the file is replaced. Otherwise a server would keep writing to a deleted
 * file, and paid results would be lost when it exits.
 */

import { chmodSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../database.ts";
import { backupOf } from "../old-backups.ts";
import { type Handles, type HandleSource, kyselyOn } from "./driver.ts";
import {
  changeOf,
  type FileChange,
  type FileIdentity,
  identify,
  isUntouched,
  modificationOf,
} from "./file-identity.ts";

export interface OldFile {
  /** Undefined if its contents can no longer be read. */
  db: Database | undefined;
  /** Its contents may be those of the new file: other processes wrote it, or a backup was copied over it. */
  mayBeOverwritten: boolean;
}

/** What is copied from the old file to the new one. */
export interface Replacement {
  /** Reads from the old file and returns a function that writes to the new one, which may be called repeatedly. */
  carryOver(old: OldFile): Promise<(to: Database) => Promise<void>>;
}

export interface ReplaceableFile extends Replacement {
  file: string;
  log: Log;
  /** Opens both handles and migrates the schema. */
  open(): Promise<Handles>;
}

interface Opened {
  handles: Handles;
  /** `modification` is updated after each checkpoint of this process. */
  identity: FileIdentity;
  /** The file was also written otherwise: by a checkpoint of another process, or a restored backup. */
  isWrittenByOthers: boolean;
  writesSinceCheckpoint: number;
}

/**
 * SQLite's own checkpoints are off (see `openSqlite`), so that only `checkpoint` writes the database file in this
 * process, and any other change of it was made by others. About as frequent as SQLite's default of 1,000 pages.
 */
const WRITES_PER_CHECKPOINT = 100;

/** Unmodified for this long, the file counts as complete: one still being copied must not be opened. */
const UNMODIFIED_MS = 500;
const MAX_COPY_WAIT_MS = 10_000;

/** The handles in use, and the state of a reopening. */
interface State {
  opened: Opened | undefined;
  /** Copies unfinished runs to the new file; kept until it has succeeded. */
  carry: ((to: Database) => Promise<void>) | undefined;
  /** The change that was logged last, to log each only once. */
  logged: FileChange;
}

export async function openReplaceableFile(options: ReplaceableFile): Promise<HandleSource> {
  const { file, log } = options;
  const state: State = { opened: await openIdentified(options), carry: undefined, logged: "none" };

  const detectChange = (): FileChange => {
    if (state.opened === undefined) return "replaced";
    const found = changeOf(state.opened.identity, identify(file));
    if (found === "none") state.logged = "none";
    if (found === "missing") logOnce(log, state, { change: found, message: missing(file) });
    return found;
  };

  const forWriting = async (): Promise<Handles> => {
    const found = detectChange();
    if (found === "none" && state.opened !== undefined) return state.opened.handles;
    if (found === "missing") throw unusable(missing(file));
    try {
      return await reopen(options, state, found);
    } catch (error) {
      throw unusable(`The database ${file} was replaced while it was open, and cannot be reopened.`, error);
    }
  };

  return {
    file,
    forReading: () => {
      const found = detectChange();
      // A removed file can still be read, but must not be written.
      return found === "none" || found === "missing" ? state.opened?.handles : undefined;
    },
    reopenForReading: forWriting,
    forWriting,
    written: () => {
      if (state.opened === undefined) return;
      state.opened.writesSinceCheckpoint += 1;
      if (state.opened.writesSinceCheckpoint >= WRITES_PER_CHECKPOINT) checkpoint(options, state.opened, "passive");
    },
    truncateLog: () => state.opened === undefined || checkpoint(options, state.opened, "truncate"),
    close: () => {
      if (state.opened !== undefined) closeHandles(state.opened.handles);
      state.opened = undefined;
    },
  };
}

/** Returns false if another process prevented a part of it. */
function checkpoint({ file, log }: ReplaceableFile, opened: Opened, mode: "passive" | "truncate"): boolean {
  opened.writesSinceCheckpoint = 0;
  try {
    if (changeOf(opened.identity, identify(file)) !== "none") return true;
    opened.isWrittenByOthers ||= modificationOf(file) !== opened.identity.modification;
    try {
      return opened.handles.writer.prepare(`pragma wal_checkpoint(${mode})`).get()?.["busy"] === 0;
    } finally {
      opened.identity = { ...opened.identity, modification: modificationOf(file) };
    }
  } catch (error) {
    // The write before it is committed and must not seem to have failed. The log keeps everything for a later checkpoint.
    log.debug(`The log of ${file} could not be checkpointed: ${String(error)}`);
    return false;
  }
}

async function reopen(options: ReplaceableFile, state: State, change: FileChange): Promise<Handles> {
  const { file, log } = options;
  const message = `The database ${file} was replaced while it was open. Reopening it.`;
  logOnce(log, state, { change, message });
  await waitUntilComplete(file);
  const before = state.opened;
  if (before !== undefined) state.carry = await options.carryOver(oldFile(file, before, change));
  // Within a process SQLite shares the WAL index by inode: new handles would use the index of the old ones.
  if (before !== undefined && change === "sidecars") {
    state.opened = undefined;
    closeWithoutLog(options, before);
  }
  const next = await openIdentified(options);
  try {
    await state.carry?.(kyselyOn(fixed(file, next.handles)));
  } catch (error) {
    closeHandles(next.handles);
    throw error;
  }
  if (state.opened !== undefined) closeHandles(state.opened.handles);
  Object.assign(state, { opened: next, carry: undefined, logged: "none" } satisfies State);
  log.warn(`The database ${file} is open again. Unfinished runs were carried over.`);
  return next.handles;
}

function logOnce(log: Log, state: State, { change, message }: { change: FileChange; message: string }): void {
  if (state.logged !== change) log.error(message);
  state.logged = change;
}

const missing = (file: string): string => `The database ${file} was removed while it was open. Nothing is written.`;

const unusable = (message: string, cause?: unknown): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message,
    suggestion: "Put the file back, or restart the server, which creates a new one if there is none.",
    cause,
  });

/** Retries if the file is replaced while it is being opened. */
async function openIdentified(options: ReplaceableFile): Promise<Opened> {
  for (;;) {
    const before = identify(options.file);
    const handles = await options.open();
    const identity = identify(options.file);
    if (identity.database !== undefined && [undefined, identity.database].includes(before.database))
      return { handles, identity, isWrittenByOthers: false, writesSinceCheckpoint: 0 };
    closeHandles(handles);
  }
}

async function waitUntilComplete(file: string): Promise<void> {
  const giveUpAt = performance.now() + MAX_COPY_WAIT_MS;
  while (performance.now() < giveUpAt) {
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age < 0 || age > UNMODIFIED_MS) return;
    await sleep(UNMODIFIED_MS - age + 1);
  }
}

/** When the last connection closes, SQLite checkpoints the log into the database and deletes it. */
export function closeHandles({ writer, reader }: Handles): void {
  if (reader !== writer) reader.close();
  writer.close();
}

/**
 * Closes handles whose log was removed. The log is checkpointed only if no other process has written the database: its
 * pages would corrupt a restored backup. Otherwise the content is saved to a separate file, and the read-only handle is
 * closed last, so that SQLite does not checkpoint.
 */
function closeWithoutLog({ file, log }: ReplaceableFile, opened: Opened): void {
  const { handles } = opened;
  if (isOurs(file, opened)) {
    handles.writer.exec("pragma wal_checkpoint(passive)");
    closeHandles(handles);
    return;
  }
  saveCopy({ file, log }, handles);
  handles.writer.close();
  if (handles.reader !== handles.writer) handles.reader.close();
}

const isOurs = (file: string, { identity, isWrittenByOthers }: Opened): boolean =>
  !isWrittenByOthers && isUntouched(identity, identify(file));

function oldFile(file: string, opened: Opened, change: FileChange): OldFile {
  if (change === "replaced" || isOurs(file, opened)) return { db: onWriter(file, opened), mayBeOverwritten: false };
  return { db: isConsistent(opened) ? onWriter(file, opened) : undefined, mayBeOverwritten: true };
}

/**
 * Of a file that was overwritten the open handle sees its own pages as far as they are in memory or in the removed log,
 * and those of the other database: rows of one table could be read as those of another.
 */
function isConsistent({ handles: { writer } }: Opened): boolean {
  try {
    return writer.prepare("pragma quick_check(1)").get()?.["quick_check"] === "ok";
  } catch {
    return false;
  }
}

function saveCopy({ file, log }: Pick<ReplaceableFile, "file" | "log">, { writer }: Handles): void {
  const copy = backupOf(file, "replacement", Date.now());
  try {
    writer.prepare("vacuum into ?").run(copy);
    chmodSync(copy, 0o600);
    log.warn(
      `The database ${file} was written by another process, and its log was removed. The contents of the log are saved in ${copy}.`,
    );
  } catch {
    log.error(
      `The database ${file} was written by another process, and its log was removed. The contents of the log are lost.`,
    );
  }
}

/** Reads through the writing handle, which has more of its pages in memory than the other one. */
const onWriter = (file: string, { handles: { writer } }: Opened): Database =>
  kyselyOn(fixed(file, { writer, reader: writer }));

/** A source whose handles never change. */
export const fixed = (file: string, handles: Handles): HandleSource => ({
  file,
  forReading: () => (handles.reader === handles.writer ? undefined : handles),
  reopenForReading: () => handles,
  forWriting: () => handles,
  written: () => {},
  truncateLog: () => true,
  close: () => closeHandles(handles),
});
