/** The newest runs for a shell that completes: quick, without a trace, and silent about every fault. */

import { existsSync } from "node:fs";
import { LOCAL_OWNER } from "../../caller.ts";
import { loadConfig, readEnvironment } from "../../config/config.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { newestRuns } from "../../runs/history/run-prefix-store.ts";
import { peek } from "../../store/sqlite/sqlite.ts";
import { print } from "../output.ts";
import { cutToWidth } from "../render/text-width.ts";

const MOST_OFFERED = 30;
const MOST_COLUMNS = 60;
/** Shells take the words apart: nothing but an id may stand where they expect one. */
const WHOLE_ID = /^[0-9a-f-]{36}$/;

export async function printTaskIds(): Promise<void> {
  try {
    const { databaseFile } = loadConfig({ environment: readEnvironment() });
    if (!existsSync(databaseFile)) return;
    const runs = await peek(databaseFile, (db) => newestRuns(db, LOCAL_OWNER, MOST_OFFERED));
    const lines = runs
      .filter(({ taskId }) => WHOLE_ID.test(taskId))
      .map(({ taskId, query }) => `${taskId}\t${cutToWidth(oneLine(query), MOST_COLUMNS)}`);
    if (lines.length > 0) await print(lines.join("\n"));
  } catch {
    // Somebody is typing: there is no place to say anything.
  }
}
