/** A disk of a few megabytes that holds the config directory and the reports, to be filled and freed at will. */

import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type KillWorld, type KillWorldOptions, openKillWorld } from "../kit/kills/world.ts";

interface SmallDisk {
  /** Nothing fits any more. */
  fill(): void;
  free(): void;
}

export interface DiskWorld extends KillWorld {
  disk: SmallDisk;
  /** The last place for a backup, on another disk. */
  temporary: string;
}

const SIZE = "8m";
const PAGE = Buffer.alloc(4_096, 1);

const mount = (...args: string[]): void => void execFileSync("env", ["mount", ...args], { stdio: "ignore" });
const unmount = (directory: string): void => void execFileSync("env", ["umount", "-l", directory], { stdio: "ignore" });

/** Only root may, and not in every container. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("env", ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** One disk for both directories: what fills it refuses the database, the orphans and the reports alike. */
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
    // What a rescue says is said beside the outbox, before the run has its end.
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

/** The limit of a process for the size of its files (`ulimit -f`): a line fits, a database does not. */
const LIMIT_BYTES = 1_024;

export function canLimit(): boolean {
  try {
    execFileSync("env", ["prlimit", "--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Needs no root. Whoever lives can make no file longer, on whatever disk, until there is room again. */
export async function openLimitedWorld(options?: KillWorldOptions): Promise<DiskWorld> {
  const world = await openKillWorld(options);
  const living = new Set<number>();
  const limit = (bytes: string): void => {
    // The soft limit alone, so that it can be raised again.
    for (const pid of living) execFileSync("env", ["prlimit", "--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  };
  return {
    ...world,
    temporary: join(world.configDir, "..", "tmp"),
    disk: {
      fill: () => limit(String(LIMIT_BYTES)),
      free: () => limit("unlimited"),
    },
    begin: (given) => {
      const life = world.begin(given);
      living.add(life.pid);
      void life.ended.then(() => living.delete(life.pid));
      return life;
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
  };
}
