/** Detects whether the files of an open database were removed or replaced. */

import { type BigIntStats, statSync } from "node:fs";

export interface FileIdentity {
  database: string | undefined;
  wal: string | undefined;
  shm: string | undefined;
  /** Changes when the database file itself is written: by a checkpoint, or by a copy over it. */
  modification: string | undefined;
}

export function identify(file: string): FileIdentity {
  const database = statOf(file);
  return {
    database: inodeOf(database),
    wal: inodeOf(statOf(`${file}-wal`)),
    shm: inodeOf(statOf(`${file}-shm`)),
    modification: sizeAndTime(database),
  };
}

export const modificationOf = (file: string): string | undefined => sizeAndTime(statOf(file));

/** 0 if there is no such file. */
export const sizeOf = (path: string): number => Number(statOf(path)?.size ?? 0);

const sizeAndTime = (stats: BigIntStats | undefined): string | undefined =>
  stats === undefined ? undefined : `${stats.size}:${stats.mtimeNs}`;

const statOf = (path: string): BigIntStats | undefined => statSync(path, { throwIfNoEntry: false, bigint: true });

const inodeOf = (stats: BigIntStats | undefined): string | undefined =>
  stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;

/** How the files at the path differ from those opened; `sidecars` are the write-ahead log and its index. */
export type FileChange = "none" | "missing" | "replaced" | "sidecars";

export function changeOf(opened: FileIdentity, now: FileIdentity): FileChange {
  if (now.database === undefined) return "missing";
  if (now.database !== opened.database) return "replaced";
  return isKept(opened.wal, now.wal) && isKept(opened.shm, now.shm) ? "none" : "sidecars";
}

/** A file that did not exist may have been created since. */
const isKept = (opened: string | undefined, now: string | undefined): boolean => opened === undefined || opened === now;

/** The file is as our last checkpoint left it, and no other log has replaced the removed one. */
export const isUntouched = (opened: FileIdentity, now: FileIdentity): boolean =>
  opened.modification === now.modification && isGone(opened.wal, now.wal) && isGone(opened.shm, now.shm);

const isGone = (opened: string | undefined, now: string | undefined): boolean => now === undefined || opened === now;
