/** Names the backups made before schema updates, and removes them after 30 days. */

import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const MAX_AGE_MS = 30 * 86_400_000;
const SUFFIX = ".before-update-";

/** The path of a new backup. */
export const backupOf = (file: string, now: number): string => `${file}${SUFFIX}${now}`;

/** Backups still contain runs that were deleted later. The time of a backup is part of its name. */
export async function removeOldBackups(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const prefix = basename(file) + SUFFIX;
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => {
    const made = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return /^\d{1,16}$/.test(made) && Number(made) < now - MAX_AGE_MS;
  });
  for (const name of old) await rm(join(folder, name), { force: true });
}
