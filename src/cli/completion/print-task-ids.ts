/** Prints the newest runs for shell completion; fast, read-only and without error output. */

import { existsSync } from "node:fs";
import { LOCAL_OWNER } from "../../caller.ts";
import { loadConfig, readEnvironment } from "../../config/config.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { newestRuns } from "../../runs/history/run-prefix-store.ts";
import { peek } from "../../store/sqlite/sqlite.ts";
import { print } from "../output.ts";
import { cutToWidth } from "../render/text-width.ts";

const MAX_RUNS = 30;
const MAX_QUESTION_COLUMNS = 60;
/** Shells split the output into words, so nothing but an id may be printed as one. */
const WHOLE_ID = /^[0-9a-f-]{36}$/;

export async function printTaskIds(): Promise<void> {
  try {
    const { databaseFile } = loadConfig({ environment: readEnvironment() });
    if (!existsSync(databaseFile)) return;
    const runs = await peek(databaseFile, (db) => newestRuns(db, LOCAL_OWNER, MAX_RUNS));
    const lines = runs
      .filter(({ taskId }) => WHOLE_ID.test(taskId))
      .map(({ taskId, query }) => `${taskId}\t${cutToWidth(oneLine(query), MAX_QUESTION_COLUMNS)}`);
    if (lines.length > 0) await print(lines.join("\n"));
  } catch {
    // An error message would appear in the line that the user types.
  }
}
