/** SQL for the command line: runs by id prefix, and the newest runs. */

import type { Database } from "../../store/database.ts";
import { isListed } from "../conversation-store.ts";

export interface NamedRun {
  taskId: string;
  query: string;
}

const MAX_MATCHES = 10;

/** Sorts after every hexadecimal digit in any collation. */
const AFTER_HEX_DIGITS = "g";

const namedRuns = (db: Database, owner: string) =>
  db.selectFrom("research_tasks").select(["task_id as taskId", "query"]).where("owner", "=", owner);

export const runsBeginningWith = (db: Database, owner: string, prefix: string): Promise<NamedRun[]> =>
  namedRuns(db, owner)
    // A range can use the index.
    .where("task_id", ">=", prefix)
    .where("task_id", "<", prefix + AFTER_HEX_DIGITS)
    .orderBy("task_id")
    .limit(MAX_MATCHES)
    .execute();

export const newestRuns = (db: Database, owner: string, limit: number): Promise<NamedRun[]> =>
  namedRuns(db, owner).where(isListed).orderBy("created_at", "desc").orderBy("task_id", "desc").limit(limit).execute();
