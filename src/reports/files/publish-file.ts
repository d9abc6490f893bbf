/**
 * Publishes a file atomically under an unused name: written to a temporary file, flushed, then named without
 * overwriting.
 */

import { link, lstat, open, realpath, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors.ts";
import { retryWhileFileBusy } from "../../platform/replace-file.ts";
import { errorCodeOf } from "../../platform/error-code.ts";
import { failpoint } from "../../platform/failpoint.ts";

const TEMPORARY = /^\.gemini-search-mcp-.+\.tmp$/;
export const isTemporary = (name: string): boolean => TEMPORARY.test(name);
export const temporaryName = (of: string): string => `.gemini-search-mcp-${of}.tmp`;

/** Gives the finished file its name. Returns false if the name is taken. */
export type ClaimName = (temporary: string, target: string) => Promise<boolean>;

export interface NewFile {
  directory: string;
  /** Written as it comes. */
  content: Uint8Array | AsyncIterable<Uint8Array>;
  /** The candidate names, counted from 1. */
  name: (number: number) => string;
  claimName?: ClaimName;
}

/** More reports of one run within one second would be a loop. */
const MAX_NAMES = 10_000;

/** Returns the name that the file got. */
export async function publishFile({ directory, content, name, claimName = claimByLink }: NewFile): Promise<string> {
  const temporary = path.join(directory, temporaryName(crypto.randomUUID()));
  try {
    await writeFlushed(temporary, content);
    failpoint("after-temp-write");
    const number = await firstFree(async (candidate) => {
      const target = path.join(directory, name(candidate));
      const isClaimed = await claimName(temporary, target);
      if (!isClaimed) await isAbsent(target);
      return isClaimed;
    });
    failpoint("after-rename");
    return name(number);
  } finally {
    await retryWhileFileBusy(() => rm(temporary)).catch(() => undefined);
  }
}

/** The first number that could be claimed. */
export async function firstFree(claim: (number: number) => Promise<boolean>): Promise<number> {
  for (let number = 1; number <= MAX_NAMES; number += 1) if (await claim(number)) return number;
  throw new AppError({
    code: "EXECUTION_ERROR",
    message: "Too many reports of this run were saved within this second.",
    suggestion: "Try again in a second.",
  });
}

/**
 * The random name must not exist, so no link can be there. The mode is that of the report, narrowed by the umask as for
 * any document: a later chmod would have to guess the umask, and the temporary file is no more secret than the report.
 */
export const writeFlushed = (target: string, content: NewFile["content"]): Promise<void> =>
  writeFile(target, content, { flag: "wx", mode: 0o644, flush: true });

/** Creating a hard link fails atomically if the name exists; rename would overwrite. */
export const claimByLink: ClaimName = async (temporary, target) => {
  try {
    await retryWhileFileBusy(() => link(temporary, target));
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errorCodeOf(error))) throw error;
    return claimByRename(temporary, target);
  }
};

/**
 * For file systems without hard links (FAT, some network drives): a claim file excludes other processes of this
 * program.
 */
export const claimByRename: ClaimName = async (temporary, target) => {
  const claim = path.join(path.dirname(target), temporaryName(path.basename(target)));
  try {
    await (await open(claim, "wx", 0o600)).close();
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    // Dangling links count as existing.
    if ((await lstat(target).catch(() => undefined)) !== undefined) return false;
    await retryWhileFileBusy(() => rename(temporary, target));
    return true;
  } finally {
    await retryWhileFileBusy(() => rm(claim)).catch(() => undefined);
  }
};

/** For a name that the user has agreed to overwrite. Never a link, whose target would then not be what was agreed to. */
export const claimByReplacing: ClaimName = async (temporary, target) => {
  await isAbsent(target);
  await retryWhileFileBusy(() => rename(temporary, target));
  return true;
};

/** Throws for a link with this name, which is not a coincidence. */
export async function isAbsent(target: string): Promise<boolean> {
  const found = await lstat(target).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return found === undefined;
  throw new AppError({
    code: "PERMISSION_DENIED",
    message: "The path of the report is a symbolic link; nothing was saved.",
    suggestion: "Remove the link or choose another directory.",
    details: { path: path.join(await realpath(path.dirname(target)), path.basename(target)) },
  });
}
