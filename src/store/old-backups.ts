/** Removes the copies of the database that were made before updates, once they are too old to go back to. */

import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const KEPT_MS = 30 * 86_400_000;
const MARK = ".before-update-";

/** Where such a copy of a file goes. */
export const backupOf = (file: string, now: number): string => `${file}${MARK}${now}`;

/** A copy holds runs that were deleted since. Its name says when it was made. */
export async function removeOldBackups(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const prefix = basename(file) + MARK;
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => {
    const made = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return /^\d{1,16}$/.test(made) && Number(made) < now - KEPT_MS;
  });
  for (const name of old) await rm(join(folder, name), { force: true });
}
