/** A process that stands still (SIGSTOP) and goes on (SIGCONT), never in the middle of a write. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { Life } from "./process.ts";
import type { KillWorld } from "./world.ts";

export const goOn = ({ pid }: Life): void => void process.kill(pid, "SIGCONT");

/** Between two writes: one that stands still in the middle of a write keeps everybody from writing, as SQLite must. */
export async function stop(here: KillWorld, life: Life): Promise<void> {
  for (;;) {
    process.kill(life.pid, "SIGSTOP");
    if (write(here, "update slots set pool = pool")) return;
    goOn(life);
    await sleep(10);
  }
}

/** False when somebody else is writing. */
export function write({ configDir }: KillWorld, sql: string): boolean {
  const database = new DatabaseSync(join(configDir, "deep_research.db"), { timeout: 100 });
  try {
    database.exec(`begin immediate; ${sql}; commit`);
    return true;
  } catch {
    return false;
  } finally {
    database.close();
  }
}
