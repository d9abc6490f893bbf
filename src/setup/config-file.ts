/** Reads and replaces a client's configuration file: a backup first, then an atomic replacement. */

import { chmod, chown, lstat, mkdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../errors.ts";
import { errorCodeOf, isDiskFull } from "../platform/error-code.ts";
import { type Replacing, replaceFile, writeFlushed } from "../platform/replace-file.ts";
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

export interface ReplaceOptions extends Pick<Replacing, "renameFile" | "platform"> {
  now: Date;
  /** For a file that may hold a key: no backup is left beside it. */
  withoutBackup?: true;
}

/** Returns the path of the backup; undefined if there is none. */
export async function replaceConfigFile(
  config: ConfigFile,
  text: string,
  options: ReplaceOptions,
): Promise<string | undefined> {
  const { file, target, bytes, mode } = config;
  // A read-only file is respected; rename would replace it regardless.
  if (bytes !== undefined && (mode & 0o222) === 0) throw unusable(file, undefined);
  const { now, withoutBackup, renameFile, platform } = options;
  let backup: string | undefined;
  const beforeRename = async (temporary: string): Promise<void> => {
    await keepOwner(temporary, target);
    if (bytes !== undefined && withoutBackup !== true) backup = await writeBackup(config, bytes, now);
    // Last, because the client may save its own settings at any time.
    if (!sameBytes(await readFile(target).catch(() => undefined), bytes)) throw changedMeanwhile(file);
  };
  try {
    await mkdir(dirname(target), { recursive: true });
    await replaceFile(target, config.mark + text, { mode, beforeRename, renameFile, platform });
    return backup;
  } catch (error) {
    if (backup !== undefined) await rm(backup, { force: true }).catch(() => undefined);
    throw error instanceof AppError ? error : unusable(file, error);
  }
}

const sameBytes = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);

const BACKUP = ".backup-";

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

/** Under sudo the file keeps its owner. */
async function keepOwner(temporary: string, target: string): Promise<void> {
  const owner = await stat(target).catch(() => undefined);
  if (owner === undefined || process.platform === "win32") return;
  await chown(temporary, owner.uid, owner.gid).catch(() => undefined);
  // A change of owner clears special bits.
  await chmod(temporary, owner.mode & 0o7777);
}

function unusable(file: string, cause: unknown): AppError {
  const full = isDiskFull(cause);
  return new AppError({
    code: full ? "DISK_FULL" : "PERMISSION_DENIED",
    message: full ? `The disk is full: ${file} was not changed.` : `${file} cannot be read or written.`,
    suggestion: full ? "Free some space and run init again." : "Check its permissions and those of its folder.",
    details: { path: file },
    cause,
  });
}

const changedMeanwhile = (file: string): AppError =>
  new AppError({
    code: "EXECUTION_ERROR",
    message: `${file} was changed by another program just now.`,
    suggestion: "Close the client and run init again.",
    details: { path: file },
    retryable: true,
  });
