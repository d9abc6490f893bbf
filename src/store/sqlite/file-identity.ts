/** Which files stand at a database's path: they can be removed or replaced while they are open. */

import { type BigIntStats, statSync } from "node:fs";

export interface FileIdentity {
  database: string | undefined;
  wal: string | undefined;
  shm: string | undefined;
  /** Changes when the database file itself is written: by a checkpoint, or by a copy over it. */
  written: string | undefined;
}

export function identify(file: string): FileIdentity {
  const database = statOf(file);
  return {
    database: inodeOf(database),
    wal: inodeOf(statOf(`${file}-wal`)),
    shm: inodeOf(statOf(`${file}-shm`)),
    written: writtenOf(database),
  };
}

/** Of the database file alone: one look, around each write. */
export const whenWritten = (file: string): string | undefined => writtenOf(statOf(file));

const writtenOf = (stats: BigIntStats | undefined): string | undefined =>
  stats === undefined ? undefined : `${stats.size}:${stats.mtimeNs}`;

const statOf = (path: string): BigIntStats | undefined => statSync(path, { throwIfNoEntry: false, bigint: true });

const inodeOf = (stats: BigIntStats | undefined): string | undefined =>
  stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;

/** What became of the files that were opened: `sidecars` are the write-ahead log and its index. */
export type FileChange = "none" | "missing" | "replaced" | "sidecars";

export function changeOf(opened: FileIdentity, now: FileIdentity): FileChange {
  if (now.database === undefined) return "missing";
  if (now.database !== opened.database) return "replaced";
  return isKept(opened.wal, now.wal) && isKept(opened.shm, now.shm) ? "none" : "sidecars";
}

/** One that did not exist yet may come. */
const isKept = (opened: string | undefined, now: string | undefined): boolean => opened === undefined || opened === now;

/** Nothing was written since `opened` was last brought up to date, and no other log has taken the place of the removed one. */
export const isUntouched = (opened: FileIdentity, now: FileIdentity): boolean =>
  opened.written === now.written && isGone(opened.wal, now.wal) && isGone(opened.shm, now.shm);

const isGone = (opened: string | undefined, now: string | undefined): boolean => now === undefined || opened === now;
