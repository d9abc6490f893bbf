/** Restricts files written for remote callers to one directory, symbolic links included. */

import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors.ts";
import { errorCodeOf } from "../../platform/error-code.ts";

/** Compares whole path segments: `/out-evil` is not in `/out`. Both must be real paths. */
export function isInside(root: string, target: string, { relative, isAbsolute, sep } = path): boolean {
  const relativePath = relative(root, target);
  return relativePath !== ".." && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath);
}

/**
 * Returns a check that throws for a directory, existing or not, outside `root`. Call it before and after creating the
 * directory.
 */
export function insideRoot(root: string): (directory: string) => Promise<void> {
  return async (directory) => {
    const [realRoot, target] = [await realPathOf(path.resolve(root)), await realPathOf(path.resolve(directory))];
    if (realRoot !== undefined && target !== undefined && isInside(realRoot, target)) return;
    throw new AppError({
      code: "PERMISSION_DENIED",
      message: "Reports can only be saved inside the directory that the server's operator chose.",
      suggestion: "Name no directory, or one below RESEARCH_REPORTS_DIR.",
    });
  };
}

export interface PinnedFolder {
  /** Refers to the folder that was checked, even if its path is replaced meanwhile. */
  path: string;
  realPath: string;
  close: () => Promise<void>;
}

/**
 * Opens and checks a folder, because a path that was checked can be replaced afterwards. Only Linux can address an open
 * folder. Elsewhere the real path is used, and a process that may rename folders below the root can still win a race.
 */
export async function pinFolder(
  folder: string,
  assertAllowed: (directory: string) => Promise<void>,
  platform = process.platform,
): Promise<PinnedFolder> {
  if (platform !== "linux") {
    const real = await realpath(folder);
    await assertAllowed(real);
    return { path: real, realPath: real, close: () => Promise.resolve() };
  }
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const descriptorPath = `/proc/self/fd/${handle.fd}`;
    await assertAllowed(descriptorPath);
    return { path: descriptorPath, realPath: await realpath(descriptorPath), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * For a path that does not exist yet: the real path of its nearest ancestor plus the rest. Undefined for a dangling
 * link.
 */
async function realPathOf(target: string): Promise<string | undefined> {
  try {
    return await realpath(target);
  } catch (error) {
    if (errorCodeOf(error) !== "ENOENT") return undefined;
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
