/** Keeps what is written for remote callers inside one directory, links included. */

import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors.ts";
import { codeOf } from "./file-errors.ts";

/** By whole names: `/out-evil` is not in `/out`. Both must be real paths. */
export function isInside(root: string, target: string, { relative, isAbsolute, sep } = path): boolean {
  const way = relative(root, target);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Throws for a directory, existing or not, that is not really below `root`. Ask before and after creating it. */
export function within(root: string): (directory: string) => Promise<void> {
  return async (directory) => {
    const [realRoot, target] = [await realPathOf(path.resolve(root)), await realPathOf(path.resolve(directory))];
    if (realRoot !== undefined && target !== undefined && isInside(realRoot, target)) return;
    throw new AppError({
      code: "PERMISSION_DENIED",
      message: "Reports may only be saved inside the directory that the server's owner chose.",
      suggestion: "Leave output_dir out, or name a directory below RESEARCH_REPORTS_DIR.",
    });
  };
}

export interface HeldFolder {
  /** Leads to the folder that was checked, whatever becomes of its name meanwhile. */
  way: string;
  real: string;
  release: () => Promise<void>;
}

/**
 * Checks a folder and keeps hold of it: a name that was checked can lead elsewhere a moment later. Only Linux has a way
 * to a folder that is open; elsewhere the real path is the nearest thing, and whoever may rename the root's folders can
 * still win a race.
 */
export async function holdFolder(
  folder: string,
  allowed: (directory: string) => Promise<void>,
  platform = process.platform,
): Promise<HeldFolder> {
  if (platform !== "linux") {
    const real = await realpath(folder);
    await allowed(real);
    return { way: real, real, release: () => Promise.resolve() };
  }
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const way = `/proc/self/fd/${handle.fd}`;
    await allowed(way);
    return { way, real: await realpath(way), release: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Of what does not exist yet, the real path of its nearest ancestor and the rest. Undefined: a link leads nowhere. */
async function realPathOf(target: string): Promise<string | undefined> {
  try {
    return await realpath(target);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") return undefined;
  }
  const exists = await lstat(target).then(
    () => true,
    () => false,
  );
  const parent = path.dirname(target);
  if (exists || parent === target) return undefined;
  const above = await realPathOf(parent);
  return above === undefined ? undefined : path.join(above, path.basename(target));
}
