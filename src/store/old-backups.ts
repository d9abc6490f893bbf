/** Names the backups made before schema updates and of replaced files, and removes them after 30 days. */

import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const MAX_AGE_MS = 30 * 86_400_000;

/** The path of a new backup. */
export const backupOf = (file: string, before: "update" | "replacement", now: number): string =>
  `${file}.before-${before}-${now}`;

/** Backups still contain runs that were deleted later. The time of a backup is part of its name. */
export async function removeOldBackups(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => {
    const suffix = name.startsWith(basename(file)) ? name.slice(basename(file).length) : "";
    const [, made] = /^\.before-(?:update|replacement)-(\d{1,16})$/.exec(suffix) ?? [];
    return made !== undefined && Number(made) < now - MAX_AGE_MS;
  });
  for (const name of old) await rm(join(folder, name), { force: true });
}
