/** Keeps a database readable while its file cannot be written, and writes to it again as soon as that is possible. */

import { statSync } from "node:fs";
import { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { closeHandles, type Handles, type HandleSource } from "./driver.ts";
import { storageError } from "./errors.ts";

export interface ReadOnlyFile {
  handles: Handles;
  /** False when the handles may no longer show what is in the file. */
  isCurrent(): boolean;
}

export interface FallbackOptions {
  file: string;
  log: Log;
  /** Throws if the file cannot be written. */
  openWritable(): Promise<HandleSource>;
  /** Undefined if the file cannot be read either. */
  openReadOnly(): Promise<ReadOnlyFile | undefined>;
  /** Opens an empty database in memory. */
  openInMemory(): Promise<Handles>;
}

export interface FallbackSource extends HandleSource {
  /** Why the file cannot be written; undefined if it can. */
  obstacle(): AppError | undefined;
}

type State =
  | { kind: "writable"; source: HandleSource }
  | { kind: "memory"; handles: Handles; cause: AppError; retryAt: number }
  | { kind: "file"; readable: ReadOnlyFile | undefined; cause: AppError; retryAt: number };

/** Opening a file takes milliseconds; what prevents it usually lasts for minutes. */
const RETRY_MS = 1_000;

export async function openWithFallback(options: FallbackOptions): Promise<FallbackSource> {
  let state = await open(options, undefined);

  const isDue = (): boolean => state.kind !== "writable" && performance.now() >= state.retryAt && !holdsRuns(state);
  const isStale = (): boolean => state.kind === "file" && state.readable?.isCurrent() === false;
  const openAgain = async (): Promise<State> => {
    state = await open(options, state);
    return state;
  };

  return {
    file: options.file,
    forReading: () => {
      if (state.kind === "writable") return state.source.forReading();
      return state.kind === "file" && !isStale() ? state.readable?.handles : undefined;
    },
    reopenForReading: async () => {
      const now = isStale() || isDue() ? await openAgain() : state;
      if (now.kind === "writable") return now.source.reopenForReading();
      const handles = now.kind === "memory" ? now.handles : now.readable?.handles;
      if (handles === undefined) throw now.cause;
      return handles;
    },
    forWriting: async () => {
      const now = isDue() ? await openAgain() : state;
      if (now.kind === "writable") return now.source.forWriting();
      if (now.kind === "memory") return now.handles;
      throw now.cause;
    },
    close: () => close(state),
    obstacle: () => {
      if (state.kind === "writable") return undefined;
      return holdsRuns(state) ? keptInMemory(options.file, state.cause) : state.cause;
    },
  };
}

/** Searches in memory would be lost with it: one may be under way, and the result of another may not have been read. */
const holdsRuns = (state: State): boolean =>
  state.kind === "memory" && state.handles.reader.prepare("select 1 from research_tasks limit 1").get() !== undefined;

const keptInMemory = (file: string, cause: AppError): AppError =>
  new AppError({
    code: cause.code,
    message: `The database ${file} could not be written when this process started, so its searches are in memory.`,
    suggestion: `${cause.suggestion ?? ""} Then restart gemini-search-mcp.`.trim(),
    cause,
  });

async function open(options: FallbackOptions, before: State | undefined): Promise<State> {
  const { file, log } = options;
  // The handles of a process share the index of the log: one that is read-only would make the next one read-only, too.
  if (before?.kind === "file") close(before);
  try {
    const source = await options.openWritable();
    if (before !== undefined) log.warn(`The database ${file} can be written again.`);
    if (before?.kind === "memory") close(before);
    return { kind: "writable", source };
  } catch (error) {
    const state = await fallback(options, before, causeOf(error, file));
    const isNews = before === undefined || before.kind === "writable" || before.cause.message !== state.cause.message;
    if (isNews) log.warn(`${state.cause.message} ${consequenceOf(state)} ${state.cause.suggestion ?? ""}`.trim());
    return state;
  }
}

async function fallback(options: FallbackOptions, before: State | undefined, cause: AppError) {
  const retryAt = performance.now() + RETRY_MS;
  if (before?.kind === "memory") return { ...before, cause, retryAt };
  if (isEmpty(options.file)) return { kind: "memory" as const, handles: await options.openInMemory(), cause, retryAt };
  return { kind: "file" as const, readable: await options.openReadOnly(), cause, retryAt };
}

/** There is no file, or SQLite could not write anything into the one that it created. */
function isEmpty(file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  } catch {
    return false;
  }
}

function consequenceOf(state: Exclude<State, { kind: "writable" }>): string {
  if (state.kind === "memory") return "Searches work, but nothing is kept after this process ends.";
  const reading = state.readable === undefined ? "cannot be read" : "can be read";
  return `Stored runs ${reading}; searches work, but are not stored.`;
}

function causeOf(error: unknown, file: string): AppError {
  const known = storageError(error, file);
  if (known instanceof AppError) return known;
  return new AppError({ code: "SQLITE_ERROR", message: `The database ${file} cannot be opened.`, cause: error });
}

function close(state: State): void {
  if (state.kind === "writable") state.source.close();
  else if (state.kind === "memory") closeHandles(state.handles);
  else if (state.readable !== undefined) closeHandles(state.readable.handles);
}
