/** Suspends a process (SIGSTOP) between two writes and resumes it (SIGCONT). */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProductProcess } from "./process.ts";
import type { KillWorld } from "./world.ts";

export const resumeProcess = ({ pid }: ProductProcess): void => void process.kill(pid, "SIGCONT");

/** A process suspended during a write would block all writers of the SQLite database. */
export async function suspendProcess(here: KillWorld, child: ProductProcess): Promise<void> {
  for (;;) {
    process.kill(child.pid, "SIGSTOP");
    if (tryWrite(here, "update leases set pool = pool")) return;
    resumeProcess(child);
    await sleep(10);
  }
}

/** Returns false if another process holds the write lock. */
export function tryWrite({ configDir }: KillWorld, sql: string): boolean {
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
