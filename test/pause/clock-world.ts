/**
 * Processes whose clock offset is read from a file, so that their clocks can be set forward and back while they run.
 */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KillWorld, type KillWorldOptions, openKillWorld } from "../kit/kills/world.ts";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";

export interface ClockWorld extends KillWorld {
  /** The offset of all processes' clocks from the system clock, in milliseconds. */
  shift(): number;
  jump(ms: number): void;
}

export async function openClockWorld(options?: KillWorldOptions): Promise<ClockWorld> {
  const world = await openKillWorld(options);
  const folder = temporaryDirectory();
  const file = join(folder, "shift");
  const env = {
    TEST_CLOCK_SHIFT_FILE: file,
    NODE_OPTIONS: `--import=${join(ROOT, "test/kit/clock/shifted-clock.ts")}`,
  };
  let shift = 0;
  return {
    ...world,
    shift: () => shift,
    jump: (ms) => {
      shift += ms;
      writeFileSync(file, String(shift));
    },
    begin: (given = {}) => world.begin({ ...given, env: { ...env, ...given.env } }),
    close: async () => {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
