/** SQL that copies unfinished runs from a database file that was replaced at run time to the new file at its path. */

import type { InsertQueryBuilder, InsertResult } from "kysely";
import { copyNotifications, notificationsOf } from "../../notifications/outbox.ts";
import type { Database, Tables } from "../../store/database.ts";
import { isFinished, RUN_STATUSES } from "../run.ts";
import { saveInteractionId } from "../interaction-store.ts";

const UNFINISHED = RUN_STATUSES.filter((status) => !isFinished(status));

/** Reads all unfinished or still polled runs with their related rows; the returned function inserts them. */
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
  const contents = await from
    .selectFrom("picture_contents")
    .selectAll()
    .where("content_hash", "in", (picture) =>
      picture.selectFrom("research_pictures").select("content_hash").where("task_id", "in", ids),
    )
    .execute();
  const files = await from.selectFrom("research_files").selectAll().where("task_id", "in", ids).execute();
  const notifications = await notificationsOf(
    from,
    runs.map(({ task_id }) => task_id),
  );
  // Includes finished runs: an older copy of the database may contain their attempts without the interaction id.
  const accepted = await from
    .selectFrom("research_attempts")
    .select(["attempt_id", "interaction_id", "answered_at", "created_at"])
    .where("interaction_id", "is not", null)
    .execute();
  return async (to) => {
    await to.transaction().execute(async (transaction) => {
      // A finished parent is not copied, and search_rowid refers to the index of the old file.
      for (const row of runs)
        await keepExisting(transaction.insertInto("research_tasks").values({ ...row, parent_task_id: null }));
      for (const row of attempts) await keepExisting(transaction.insertInto("research_attempts").values(row));
      for (const row of rounds) await keepExisting(transaction.insertInto("research_rounds").values(row));
      for (const row of results)
        await keepExisting(transaction.insertInto("research_results").values({ ...row, search_rowid: null }));
      for (const row of contents) await keepExisting(transaction.insertInto("picture_contents").values(row));
      for (const row of pictures) await keepExisting(transaction.insertInto("research_pictures").values(row));
      for (const row of files) await keepExisting(transaction.insertInto("research_files").values(row));
      await copyNotifications(transaction, notifications);
    });
    const withoutId = await attemptsWithoutId(to);
    for (const { attempt_id: attemptId, interaction_id: interactionId, answered_at, created_at } of accepted) {
      if (interactionId === null || !withoutId.has(attemptId)) continue;
      await saveInteractionId(to, { attemptId, interactionId, now: answered_at ?? created_at });
    }
  };
}

/** Does not overwrite rows that another process has copied or that the new file already contains. */
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
