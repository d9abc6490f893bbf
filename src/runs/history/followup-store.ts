/** SQL for conversations: the follow-ups on a run, and whether Google can continue its interaction. */

import type { Database } from "../../store/database.ts";
import { isListed } from "../conversation-store.ts";
import type { Run } from "../run.ts";
import { runOf } from "../run-row.ts";

/** Far above any conversation that a person has. */
const MAX_FOLLOW_UPS = 100;

const followUps = (db: Database, owner: string, taskId: string) =>
  db
    .selectFrom("research_tasks")
    .selectAll()
    .where("parent_task_id", "=", taskId)
    .where("owner", "=", owner)
    .where("followup_context", "is not", null)
    .where(isListed);

/** Oldest first. */
export async function followUpsOn(db: Database, owner: string, taskId: string): Promise<Run[]> {
  const oldestFirst = followUps(db, owner, taskId).orderBy("created_at").orderBy("task_id");
  return (await oldestFirst.limit(MAX_FOLLOW_UPS).execute()).map(runOf);
}

/** Each was paid for on its own. */
const MAX_TABLES = 1_000;

/** The follow-ups that make a table, newest first. */
export async function tableRunsOn(db: Database, owner: string, taskId: string): Promise<Run[]> {
  const newestFirst = followUps(db, owner, taskId).orderBy("created_at", "desc").orderBy("task_id", "desc");
  const tables = newestFirst.where("part", "=", "table").limit(MAX_TABLES);
  return (await tables.execute()).map(runOf);
}

/** Identifies the API key of the run's interaction, which other keys cannot read. */
export async function pollKeyOfRun(db: Database, taskId: string): Promise<string | undefined> {
  const run = db.selectFrom("research_tasks").select("poll_key").where("task_id", "=", taskId);
  return (await run.executeTakeFirst())?.poll_key ?? undefined;
}
