/** The SQL that carries unfinished runs from a database file that was replaced under this process to the one in its place. */

import type { InsertQueryBuilder, InsertResult } from "kysely";
import { copyNotifications, notificationsOf } from "../../notifications/outbox.ts";
import type { Database, Tables } from "../../store/database.ts";
import { isFinished, RUN_STATUSES } from "../run.ts";
import { saveInteractionId } from "../interaction-store.ts";

const UNFINISHED = RUN_STATUSES.filter((status) => !isFinished(status));

/** Runs that are under way, or polled for something that is still missing, with what is known of them. */
export async function carryUnfinished(from: Database): Promise<(to: Database) => Promise<void>> {
  const unfinished = from
    .selectFrom("research_tasks")
    .where((run) => run.or([run("status", "in", UNFINISHED), run("next_poll_at", "is not", null)]));
  const ids = unfinished.select("task_id");
  const runs = await unfinished.selectAll().execute();
  const attempts = await from.selectFrom("research_attempts").selectAll().where("task_id", "in", ids).execute();
  const results = await from.selectFrom("research_results").selectAll().where("task_id", "in", ids).execute();
  const rounds = await from.selectFrom("research_rounds").selectAll().where("task_id", "in", ids).execute();
  const pictures = await from.selectFrom("research_pictures").selectAll().where("task_id", "in", ids).execute();
  const notifications = await notificationsOf(
    from,
    runs.map(({ task_id }) => task_id),
  );
  // Also of finished runs: an older copy of the database may know their starts and not how they ended.
  const accepted = await from
    .selectFrom("research_attempts")
    .select(["attempt_id", "interaction_id", "answered_at", "created_at"])
    .where("interaction_id", "is not", null)
    .execute();
  return async (to) => {
    await to.transaction().execute(async (transaction) => {
      // A parent may be finished, and stays behind then. The row of the search index is another file's.
      for (const row of runs)
        await keepExisting(transaction.insertInto("research_tasks").values({ ...row, parent_task_id: null }));
      for (const row of attempts) await keepExisting(transaction.insertInto("research_attempts").values(row));
      for (const row of rounds) await keepExisting(transaction.insertInto("research_rounds").values(row));
      for (const row of results)
        await keepExisting(transaction.insertInto("research_results").values({ ...row, search_rowid: null }));
      for (const row of pictures) await keepExisting(transaction.insertInto("research_pictures").values(row));
      await copyNotifications(transaction, notifications);
    });
    const waiting = await attemptsWithoutId(to);
    for (const { attempt_id: attemptId, interaction_id: interactionId, answered_at, created_at } of accepted) {
      if (interactionId === null || !waiting.has(attemptId)) continue;
      await saveInteractionId(to, { attemptId, interactionId, now: answered_at ?? created_at });
    }
  };
}

/** Of the process that was faster, or of the file as it was put there. */
const keepExisting = <Table extends keyof Tables>(insert: InsertQueryBuilder<Tables, Table, InsertResult>) =>
  insert.onConflict((conflict) => conflict.doNothing()).execute();

async function attemptsWithoutId(db: Database): Promise<Set<string>> {
  const rows = await db
    .selectFrom("research_attempts")
    .select("attempt_id")
    .where("interaction_id", "is", null)
    .execute();
  return new Set(rows.map(({ attempt_id }) => attempt_id));
}
