/** A client's file on disk: read whole or not at all, kept beside before it is changed, replaced in one step. */

import { chmod, chown, link, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../errors.ts";
import { patiently } from "../platform/clock.ts";
import { notReadable } from "./entry-format.ts";

export interface ConfigFile {
  /** As the client knows it. */
  file: string;
  /** Behind links, so that the link stays a link. */
  target: string;
  /** Undefined: there is no such file yet. */
  bytes: Buffer | undefined;
  mode: number;
  /** Without the byte order mark. */
  text: string;
  mark: string;
}

/** Far above any settings file; what is larger is something else. */
const LARGEST_BYTES = 64 * 1024 * 1024;
const MARK = "\uFEFF";

export async function readConfigFile(file: string, newMode: number): Promise<ConfigFile> {
  const found = await stat(file).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusable(file, error);
  });
  if (found === undefined) return absent(file, newMode);
  if (!found.isFile()) throw notReadable({ file, problem: "This is not a file." });
  if (found.size > LARGEST_BYTES) throw notReadable({ file, problem: "This file is too large to be settings." });
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

/** A link that leads nowhere is looked at as missing; writing through it would make a file where nobody expects one. */
async function absent(file: string, mode: number): Promise<ConfigFile> {
  const link = await lstat(file).catch(() => undefined);
  if (link !== undefined) throw notReadable({ file, problem: "This link leads nowhere." });
  return { file, target: file, bytes: undefined, mode, text: "", mark: "" };
}

export interface Replacing {
  now: Date;
  /** The copy that an earlier try has kept: one of the file as it was is enough. */
  backup?: string | undefined;
  /** For a file that may hold a key: no copy of it is left beside it. */
  withoutBackup?: true;
  renameFile?: typeof rename;
  platform?: NodeJS.Platform;
}

export interface Replaced {
  /** The path of the copy that was kept; undefined where there was nothing to keep. */
  backup: string | undefined;
  /** Another program has written the file right after us; what of ours is left has to be looked at. */
  overwritten: boolean;
}

export async function replaceConfigFile(config: ConfigFile, text: string, replacing: Replacing): Promise<Replaced> {
  const { file, target, bytes, mode } = config;
  // Who took the right to write away meant it; a rename would not even notice.
  if (bytes !== undefined && (mode & 0o222) === 0) throw unusable(file, undefined);
  const content = Buffer.from(config.mark + text);
  try {
    await mkdir(dirname(target), { recursive: true });
    return await whileAlone(target, async (temporary) => {
      const current = await readFile(target).catch(() => undefined);
      if (!sameBytes(current, bytes)) throw changedMeanwhile(file);
      await writeFlushed(temporary, content, mode);
      await keepOwner(temporary, target);
      const backup = await withBackup(config, temporary, replacing);
      await flushFolder(dirname(target));
      return { backup, overwritten: !sameBytes(await readFile(target).catch(() => undefined), content) };
    });
  } catch (error) {
    throw error instanceof AppError ? error : unusable(file, error);
  }
}

/** Gives the file its name. A copy of what was not replaced after all would be one of nothing. */
async function withBackup(config: ConfigFile, temporary: string, replacing: Replacing): Promise<string | undefined> {
  const { now, renameFile = rename, platform = process.platform } = replacing;
  const { bytes, file, target } = config;
  const hasCopy = replacing.backup !== undefined || replacing.withoutBackup === true;
  const made = bytes === undefined || hasCopy ? undefined : await keepBackup(config, bytes, now);
  try {
    // Flushing and copying took their time: what another program wrote meanwhile is its own.
    if (!sameBytes(await readFile(target).catch(() => undefined), bytes)) throw changedMeanwhile(file);
    if (bytes === undefined && (await wasCreated(temporary, config))) return undefined;
    await patiently(() => renameFile(temporary, target), { platform });
  } catch (error) {
    if (made !== undefined) await rm(made, { force: true }).catch(() => undefined);
    throw error;
  }
  return replacing.backup ?? made;
}

/** Takes the name only where it is free; a rename would take it from whoever has it. */
async function wasCreated(temporary: string, { file, target }: ConfigFile): Promise<boolean> {
  try {
    await link(temporary, target);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw changedMeanwhile(file);
    // A file system without links: a rename is all there is.
    return false;
  }
}

const sameBytes = (a: Buffer | undefined, b: Buffer | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.equals(b);

const LOCK_TRIES = 50;
const LOCK_WAIT_MS = 100;
const LOCK_STALE_MS = 60_000;

/** The file that is written aside has one name, so that only one of us can be at it. */
async function whileAlone<T>(target: string, act: (temporary: string) => Promise<T>): Promise<T> {
  const lock = join(dirname(target), `.${basename(target)}.gemini-search-mcp.lock`);
  for (let tries = 1; ; tries += 1) {
    try {
      await (await open(lock, "wx", 0o600)).close();
      break;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
      if (tries === LOCK_TRIES) throw busy(lock);
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

/** Beside the name that the client knows, not in the folder a link leads to: that is often somebody's repository. */
async function keepBackup({ file, mode }: ConfigFile, bytes: Buffer, now: Date): Promise<string> {
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
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

async function writeFlushed(file: string, content: Uint8Array, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(content);
    // The umask has narrowed the mode of the opening.
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Under sudo the file stays its user's. */
async function keepOwner(temporary: string, target: string): Promise<void> {
  const owner = await stat(target).catch(() => undefined);
  if (owner === undefined || process.platform === "win32") return;
  await chown(temporary, owner.uid, owner.gid).catch(() => undefined);
  // A change of owner takes special bits away.
  await chmod(temporary, owner.mode & 0o7777);
}

async function flushFolder(folder: string): Promise<void> {
  // Not every file system or platform lets a folder be opened; the rename itself has happened.
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

function unusable(file: string, cause: unknown): AppError {
  const full = codeOf(cause) === "ENOSPC" || codeOf(cause) === "EDQUOT";
  return new AppError({
    code: full ? "DISK_FULL" : "PERMISSION_DENIED",
    message: full ? `The disk is full: ${file} was not changed.` : `${file} cannot be read and written.`,
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
    message: "Another init is at work on this file.",
    suggestion: `Wait for it; if there is none, delete ${lock}.`,
    retryable: true,
  });
