/** Reads a run directly from the database, for values that no answer contains. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export function storedRun(configDir: string, taskId: string): Record<string, unknown> | undefined {
  const database = new DatabaseSync(join(configDir, "deep_research.db"), { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare("select * from research_tasks where task_id = ?").get(taskId);
  } finally {
    database.close();
  }
}
