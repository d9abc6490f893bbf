/** Holds the write lock of the database, as another program would. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves when the lock is released. */
export async function holdWriteLock(configDir: string, ms: number): Promise<void> {
  const database = new DatabaseSync(join(configDir, "deep_research.db"), { timeout: 5_000 });
  try {
    database.exec("begin immediate");
    await sleep(ms);
  } finally {
    database.close();
  }
}
