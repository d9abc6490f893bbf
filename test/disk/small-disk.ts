/** A file system of a few megabytes with the config directory and the reports, which can be filled and freed. */

import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type KillWorld, type KillWorldOptions, openKillWorld } from "../kit/kills/world.ts";

interface SmallDisk {
  /** Fills the disk completely. */
  fill(): void;
  free(): void;
  /** Only while no process has a file open for writing. */
  remount(mode: "ro" | "rw"): void;
}

export interface DiskWorld extends KillWorld {
  disk: SmallDisk;
  /** The fallback directory for backups, on another disk. */
  temporary: string;
}

const SIZE = "8m";
const PAGE = Buffer.alloc(4_096, 1);

const mount = (...args: string[]): void => void execFileSync("env", ["mount", ...args], { stdio: "ignore" });
const unmount = (directory: string): void => void execFileSync("env", ["umount", "-l", directory], { stdio: "ignore" });

/** Mounting requires root and is not permitted in every container. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("env", ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** One disk for both directories, so that filling it blocks the database, the orphaned ids and the reports. */
export async function openDiskWorld(options?: KillWorldOptions): Promise<DiskWorld> {
  const world = await openKillWorld(options);
  const { configDir, reportsDir } = world;
  const temporary = join(configDir, "..", "tmp");
  mkdirSync(temporary);
  mount("-t", "tmpfs", "-o", `size=${SIZE},mode=700`, "tmpfs", configDir);
  mkdirSync(join(configDir, "saved"));
  mount("--bind", join(configDir, "saved"), reportsDir);
  world.env["TMPDIR"] = temporary;
  return {
    ...world,
    temporary,
    disk: createDisk(configDir),
    // The notification about a backup is not in the outbox and precedes the end of the run.
    notified: () => world.notified().filter((line) => !line.includes(": saved to ")),
    begin: (given = {}) => world.begin({ ...given, env: { TMPDIR: temporary, ...given.env } }),
    close: async () => {
      try {
        unmount(reportsDir);
        unmount(configDir);
      } finally {
        await world.close();
      }
    },
  };
}

/** The file size limit of a process (`ulimit -f`): a log line fits, a database does not. */
const LIMIT_BYTES = 1_024;

export function canLimit(): boolean {
  try {
    execFileSync("env", ["prlimit", "--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Does not require root: running processes cannot extend any file, on any disk, until the limit is lifted. */
export async function openLimitedWorld(options?: KillWorldOptions): Promise<DiskWorld> {
  const world = await openKillWorld(options);
  const living = new Set<number>();
  const limit = (bytes: string): void => {
    // Sets only the soft limit, so that it can be raised again.
    for (const pid of living) execFileSync("env", ["prlimit", "--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  };
  return {
    ...world,
    temporary: join(world.configDir, "..", "tmp"),
    disk: {
      fill: () => limit(String(LIMIT_BYTES)),
      free: () => limit("unlimited"),
      remount: () => {
        throw new Error("A limit of file sizes mounts nothing.");
      },
    },
    begin: (given) => {
      const child = world.begin(given);
      living.add(child.pid);
      void child.ended.then(() => living.delete(child.pid));
      return child;
    },
  };
}

function createDisk(directory: string): SmallDisk {
  const filler = join(directory, "filler");
  return {
    fill: () => {
      const file = openSync(filler, "a");
      try {
        for (;;) writeSync(file, PAGE);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    remount: (mode) => mount("-o", `remount,${mode}`, directory),
  };
}
