/** Reads and replaces a client's configuration file: a backup first, then an atomic replacement. */

import { chmod, chown, link, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../errors.ts";
import { retryWhileFileBusy } from "../platform/busy-file.ts";
import { errorCodeOf } from "../platform/error-code.ts";
import { notReadable } from "./entry-format.ts";

export interface ConfigFile {
  /** The path that the client uses. */
  file: string;
  /** The target of symbolic links, so that a link stays a link. */
  target: string;
  /** Undefined if the file does not exist yet. */
  bytes: Buffer | undefined;
  mode: number;
  /** Without the byte order mark. */
  text: string;
  mark: string;
}

/** Far above any settings file. */
const MAX_BYTES = 64 * 1024 * 1024;
const MARK = "\uFEFF";

export async function readConfigFile(file: string, newMode: number): Promise<ConfigFile> {
  const found = await stat(file).catch((error: unknown) => {
    if (errorCodeOf(error) === "ENOENT") return undefined;
    throw unusable(file, error);
  });
  if (found === undefined) return absent(file, newMode);
  if (!found.isFile()) throw notReadable({ file, problem: "This is not a file." });
  if (found.size > MAX_BYTES) throw notReadable({ file, problem: "This file is too large for a settings file." });
  try {
    const [target, bytes] = await Promise.all([realpath(file), readFile(file)]);
    const whole = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const mark = whole.startsWith(MARK) ? MARK : "";
    return { file, target, bytes, mode: found.mode & 0o7777, text: whole.slice(mark.length), mark };
  } catch (error) {
    if (error instanceof TypeError) throw notReadable({ file, problem: "This is not UTF-8 text." });
    throw unusable(file, error);
  }
}

/** A dangling link is refused: writing through it would create a file in an unexpected place. */
async function absent(file: string, mode: number): Promise<ConfigFile> {
  const dangling = await lstat(file).catch(() => undefined);
  if (dangling !== undefined) throw notReadable({ file, problem: "This link is dangling." });
  return { file, target: file, bytes: undefined, mode, text: "", mark: "" };
}

export interface ReplaceOptions {
  now: Date;
  /** The backup of an earlier try, which need not be repeated. */
  backup?: string | undefined;
  /** For a file that may hold a key: no backup is left beside it. */
  withoutBackup?: true;
  renameFile?: typeof rename;
  platform?: NodeJS.Platform;
}

export interface ReplaceResult {
  /** The path of the backup; undefined if the file is new. */
  backup: string | undefined;
  /** Another program wrote the file right after us; check what is left of our change. */
  overwritten: boolean;
}

export async function replaceConfigFile(
  config: ConfigFile,
  text: string,
  options: ReplaceOptions,
): Promise<ReplaceResult> {
  const { file, target, bytes, mode } = config;
  // A read-only file is respected; rename would replace it regardless.
  if (bytes !== undefined && (mode & 0o222) === 0) throw unusable(file, undefined);
  const content = Buffer.from(config.mark + text);
  try {
    await mkdir(dirname(target), { recursive: true });
    return await withFileLock(target, async (temporary) => {
      const current = await readFile(target).catch(() => undefined);
      if (!sameBytes(current, bytes)) throw changedMeanwhile(file);
      await writeFlushed(temporary, content, mode);
      await keepOwner(temporary, target);
      const backup = await replaceWithBackup(config, temporary, options);
      await flushFolder(dirname(target));
      return { backup, overwritten: !sameBytes(await readFile(target).catch(() => undefined), content) };
    });
  } catch (error) {
    throw error instanceof AppError ? error : unusable(file, error);
  }
}

/** Renames the new file into place, and removes the backup if that fails. */
async function replaceWithBackup(
  config: ConfigFile,
  temporary: string,
  options: ReplaceOptions,
): Promise<string | undefined> {
  const { now, renameFile = rename, platform = process.platform } = options;
  const { bytes, file, target } = config;
  const hasCopy = options.backup !== undefined || options.withoutBackup === true;
  const made = bytes === undefined || hasCopy ? undefined : await writeBackup(config, bytes, now);
  try {
    // Another program may have written the file while ours was flushed and copied.
    if (!sameBytes(await readFile(target).catch(() => undefined), bytes)) throw changedMeanwhile(file);
    if (bytes === undefined && (await createIfAbsent(temporary, config))) return undefined;
    await retryWhileFileBusy(() => renameFile(temporary, target), { platform });
  } catch (error) {
    if (made !== undefined) await rm(made, { force: true }).catch(() => undefined);
    throw error;
  }
  return options.backup ?? made;
}

/** Creates the file only if the name is free; rename would overwrite. */
async function createIfAbsent(temporary: string, { file, target }: ConfigFile): Promise<boolean> {
  try {
    await link(temporary, target);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") throw changedMeanwhile(file);
    // The file system has no hard links; rename is the only option.
    return false;
  }
}

const sameBytes = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);

const MAX_LOCK_TRIES = 50;
const LOCK_WAIT_MS = 100;
const LOCK_STALE_MS = 60_000;

/** Excludes other processes of this program with a lock file. */
async function withFileLock<T>(target: string, act: (temporary: string) => Promise<T>): Promise<T> {
  const lock = join(dirname(target), `.${basename(target)}.gemini-search-mcp.lock`);
  for (let tries = 1; ; tries += 1) {
    try {
      await (await open(lock, "wx", 0o600)).close();
      break;
    } catch (error) {
      if (errorCodeOf(error) !== "EEXIST") throw error;
      if (tries === MAX_LOCK_TRIES) throw busy(lock);
      const held = await stat(lock).catch(() => undefined);
      if (held !== undefined && Date.now() - held.mtimeMs > LOCK_STALE_MS) await rm(lock, { force: true });
      else await delay(LOCK_WAIT_MS);
    }
  }
  const temporary = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}.tmp`);
  try {
    return await act(temporary);
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
    await rm(lock, { force: true }).catch(() => undefined);
  }
}

export const BACKUP = ".backup-";

/** Beside the path that the client uses, not beside the target of a link, which is often in a repository. */
async function writeBackup({ file, mode }: ConfigFile, bytes: Buffer, now: Date): Promise<string> {
  const stamp = now
    .toISOString()
    .replaceAll(/[-:]|\..*$/g, "")
    .replace("T", "-");
  for (let number = 1; ; number += 1) {
    const backup = `${file}${BACKUP}${stamp}${number === 1 ? "" : `-${number}`}`;
    try {
      await writeFlushed(backup, bytes, mode);
      return backup;
    } catch (error) {
      if (errorCodeOf(error) !== "EEXIST") throw error;
    }
  }
}

async function writeFlushed(file: string, content: Uint8Array, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(content);
    // The umask narrowed the mode at opening.
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Under sudo the file keeps its owner. */
async function keepOwner(temporary: string, target: string): Promise<void> {
  const owner = await stat(target).catch(() => undefined);
  if (owner === undefined || process.platform === "win32") return;
  await chown(temporary, owner.uid, owner.gid).catch(() => undefined);
  // A change of owner clears special bits.
  await chmod(temporary, owner.mode & 0o7777);
}

async function flushFolder(folder: string): Promise<void> {
  // Not every platform can open or flush a folder, and the rename has already happened.
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function unusable(file: string, cause: unknown): AppError {
  const full = errorCodeOf(cause) === "ENOSPC" || errorCodeOf(cause) === "EDQUOT";
  return new AppError({
    code: full ? "DISK_FULL" : "PERMISSION_DENIED",
    message: full ? `The disk is full: ${file} was not changed.` : `${file} cannot be read or written.`,
    suggestion: full ? "Free some space and run init again." : "Check its permissions and those of its folder.",
    details: { path: file },
    cause,
  });
}

export const changedMeanwhile = (file: string): AppError =>
  new AppError({
    code: "EXECUTION_ERROR",
    message: `${file} was changed by another program just now.`,
    suggestion: "Close the client and run init again.",
    details: { path: file },
    retryable: true,
  });

const busy = (lock: string): AppError =>
  new AppError({
    code: "EXECUTION_ERROR",
    message: "Another init is changing this file.",
    suggestion: `Wait for it; if there is none, delete ${lock}.`,
    retryable: true,
  });
