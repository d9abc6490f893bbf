/** Where the text of deleted runs would remain: in backups made before schema updates, and in SQLite's log. */

import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sql } from "kysely";
import type { Database } from "./database.ts";
import { isShared } from "./dialect.ts";

const MAX_AGE_MS = 30 * 86_400_000;

/** The path of a new backup. */
export const backupOf = (file: string, now: number): string => `${file}.before-update-${now}`;

/** Backups still contain runs that were deleted later. The time of a backup is part of its name. */
export async function removeOldBackups(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => {
    const suffix = name.startsWith(basename(file)) ? name.slice(basename(file).length) : "";
    const [, made] = /^\.before-update-(\d{1,16})$/.exec(suffix) ?? [];
    return made !== undefined && Number(made) < now - MAX_AGE_MS;
  });
  for (const name of old) await rm(join(folder, name), { force: true });
}

/**
 * SQLite only: moves everything into the database file and empties the write-ahead log, which contains deleted text
 * until it is overwritten. False while another process reads or writes.
 */
export async function truncateLog(db: Database): Promise<boolean> {
  if (isShared(db)) return true;
  try {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
    return rows[0]?.busy === 0;
  } catch {
    // The log keeps everything for a later checkpoint.
    return false;
  }
}
