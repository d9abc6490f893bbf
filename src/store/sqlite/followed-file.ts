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

/** The handles in use, and what the next opening has to know. */
interface State {
  opened: Opened | undefined;
  /** Copies unfinished runs to the next file; kept until that has succeeded. */
  carry: ((to: Database) => Promise<void>) | undefined;
  /** The change that was logged last, so that it is logged once. */
  logged: FileChange;
}

export async function followFile(options: FollowedFile): Promise<HandleSource> {
  const { file, log } = options;
  const state: State = { opened: await openIdentified(options), carry: undefined, logged: "none" };

  const detectChange = (): FileChange => {
    if (state.opened === undefined) return "replaced";
    const found = changeOf(state.opened.identity, identify(file));
    if (found === "none") state.logged = "none";
    if (found === "missing") logOnce(log, state, { change: found, message: missing(file) });
    return found;
  };

  return {
    file,
    forReading: () => {
      const found = detectChange();
      // Rows of a removed file are still valid to read; nothing is written to it.
      return found === "none" || found === "missing" ? state.opened?.handles : undefined;
    },
    forWriting: async () => {
      const found = detectChange();
      if (found === "none" && state.opened !== undefined) return state.opened.handles;
      if (found === "missing") throw unusable(missing(file));
      try {
        return await reopen(options, state, found);
      } catch (error) {
        throw unusable(`The database ${file} was replaced while it was open, and cannot be opened again.`, error);
      }
    },
    writing: (write) => {
      const current = state.opened;
      if (current === undefined) return write();
      current.isWrittenByOthers ||= whenWritten(file) !== current.identity.written;
      try {
        return write();
      } finally {
        current.identity = { ...current.identity, written: whenWritten(file) };
      }
    },
    close: () => {
      if (state.opened !== undefined) closeHandles(state.opened.handles);
      state.opened = undefined;
    },
  };
}

async function reopen(options: FollowedFile, state: State, change: FileChange): Promise<Handles> {
  const { file, log } = options;
  const message = `The database ${file} was replaced while it was open. It is opened again.`;
  logOnce(log, state, { change, message });
  await settled(file);
  const before = state.opened;
  if (before !== undefined) state.carry = await options.carryOver(kyselyOn(fixed(file, before.handles)));
  // Within one process SQLite shares the index of the WAL by inode: the new handles would get that of the old ones.
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
