/** A run as it stands in the database, read past the product: what no answer shows can still be checked. */

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
