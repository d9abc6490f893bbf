/** Puts a file whole under a name that nobody has: written aside, flushed, then named, and never over another. */

import { link, lstat, open, realpath, rename, rm } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors.ts";
import { patiently } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { codeOf } from "./file-errors.ts";

const TEMPORARY = /^\.gemini-search-mcp-.+\.tmp$/;
export const isTemporary = (name: string): boolean => TEMPORARY.test(name);
export const temporaryName = (of: string): string => `.gemini-search-mcp-${of}.tmp`;

/** Gives the finished file its name. False: the name is taken. */
export type TakeName = (temporary: string, target: string) => Promise<boolean>;

export interface NewFile {
  directory: string;
  content: Uint8Array;
  /** The names to try, counted from 1. */
  name: (number: number) => string;
  takeName?: TakeName;
}

/** More of the same second and run are a loop somewhere. */
const MOST_NAMES = 10_000;

/** The name it got. */
export async function publishFile({ directory, content, name, takeName = takeByLink }: NewFile): Promise<string> {
  const temporary = path.join(directory, temporaryName(crypto.randomUUID()));
  try {
    await writeFlushed(temporary, content);
    failpoint("after-temp-write");
    for (let number = 1; number <= MOST_NAMES; number += 1) {
      const target = path.join(directory, name(number));
      if (await takeName(temporary, target)) {
        failpoint("after-rename");
        return path.basename(target);
      }
      await refuseLink(target);
    }
  } finally {
    await patiently(() => rm(temporary)).catch(() => undefined);
  }
  throw new AppError({
    code: "EXECUTION_ERROR",
    message: "There are too many reports of this run from this very second.",
    suggestion: "Try again in a second.",
  });
}

/**
 * A random name that must not exist, so that nobody can have put a link there. Its mode is that of the report, narrowed
 * by the user's umask as for any document: chmod afterwards would have to guess that umask, and half a report is no
 * greater secret than the whole beside it.
 */
async function writeFlushed(target: string, content: Uint8Array): Promise<void> {
  const file = await open(target, "wx", 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A second name fails where one exists, in one step, whoever else tries: rename would overwrite. */
export const takeByLink: TakeName = async (temporary, target) => {
  try {
    await patiently(() => link(temporary, target));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(codeOf(error))) throw error;
    return takeByRename(temporary, target);
  }
};

/** For file systems without second names (FAT, some network drives): a file of ours keeps others of us away. */
export const takeByRename: TakeName = async (temporary, target) => {
  const claim = path.join(path.dirname(target), temporaryName(path.basename(target)));
  try {
    await (await open(claim, "wx", 0o600)).close();
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    if (await exists(target)) return false;
    await patiently(() => rename(temporary, target));
    return true;
  } finally {
    await patiently(() => rm(claim)).catch(() => undefined);
  }
};

/** Links count, also those that lead nowhere. */
const exists = async (target: string): Promise<boolean> => (await lstat(target).catch(() => undefined)) !== undefined;

/** Nobody makes a link of that name by chance. */
async function refuseLink(target: string): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return;
  throw new AppError({
    code: "PERMISSION_DENIED",
    message: "A symbolic link stands where the report would go; nothing was saved.",
    suggestion: "Remove the link or choose another output_dir.",
    details: { path: path.join(await realpath(path.dirname(target)), path.basename(target)) },
  });
}
