/** SQL that copies unfinished runs from a database file that was replaced at run time to the new file at its path. */

import type { InsertQueryBuilder, InsertResult, Selectable } from "kysely";
import { copyNotifications, notificationsOf } from "../../notifications/outbox.ts";
import type { Database, Tables } from "../../store/database.ts";
import { isShared } from "../../store/dialect.ts";
import type { OldFile } from "../../store/sqlite/replaceable-file.ts";
import { FINISHED, UNFINISHED } from "../run.ts";
import { saveInteractionId } from "../interaction-store.ts";

type CarryOver = (to: Database) => Promise<void>;
type RunRow = Selectable<Tables["research_tasks"]>;
type AttemptRow = Selectable<Tables["research_attempts"]>;

interface RememberedRun {
  run: RunRow;
  attempts: AttemptRow[];
  /** Sweeps in a row that did not find it in the database. */
  missed: number;
}

/** The newest open runs by task_id, as they were when this process first saw their last interaction. */
export type RememberedRuns = Map<string, RememberedRun>;

/** A run takes a few kilobytes, a follow-up the length of its report. */
const MAX_REMEMBERED = 100;
/** A minute of sweeps: a replaced file is recognised sooner, so the run was deleted. */
const MAX_MISSED = 12;

export async function rememberRun(rememberedRuns: RememberedRuns, db: Database, taskId: string): Promise<void> {
  if (isShared(db)) return;
  const run = await db.selectFrom("research_tasks").selectAll().where("task_id", "=", taskId).executeTakeFirst();
  if (run === undefined) return;
  const attempts = await db.selectFrom("research_attempts").selectAll().where("task_id", "=", taskId).execute();
  rememberedRuns.delete(taskId);
  rememberedRuns.set(taskId, { run, attempts, missed: 0 });
  for (const oldest of [...rememberedRuns.keys()].slice(0, -MAX_REMEMBERED)) rememberedRuns.delete(oldest);
}

/** Adds open runs, also of other processes, and removes those that have ended or were deleted. Called by each sweep. */
export async function updateRemembered(rememberedRuns: RememberedRuns, db: Database): Promise<void> {
  if (isShared(db)) return;
  await forgetEndedRuns(rememberedRuns, db);
  const open = await db
    .selectFrom("research_tasks")
    .select(["task_id", "interaction_id", "updated_at"])
    .where("status", "in", UNFINISHED)
    .where("interaction_id", "is not", null)
    .orderBy("created_at", "desc")
    .limit(MAX_REMEMBERED)
    .execute();
  for (const row of open) {
    const known = rememberedRuns.get(row.task_id)?.run;
    // An earlier state may come from a file that was restored and is not yet recognised as such.
    const isNewer = known === undefined || row.updated_at > known.updated_at;
    if (!isNewer || row.interaction_id === known?.interaction_id) continue;
    // A row on a damaged page of the file cannot be read as a whole.
    await rememberRun(rememberedRuns, db, row.task_id).catch(() => undefined);
  }
}

async function forgetEndedRuns(rememberedRuns: RememberedRuns, db: Database): Promise<void> {
  if (rememberedRuns.size === 0) return;
  const rows = await db
    .selectFrom("research_tasks")
    .select(["task_id", "status", "next_poll_at"])
    .where("task_id", "in", [...rememberedRuns.keys()])
    .execute();
  const found = new Map(rows.map((row) => [row.task_id, row]));
  for (const [taskId, remembered] of rememberedRuns) {
    const row = found.get(taskId);
    remembered.missed = row === undefined ? remembered.missed + 1 : 0;
    const hasEnded = row?.next_poll_at === null && FINISHED.some((status) => status === row.status);
    if (hasEnded || remembered.missed >= MAX_MISSED) rememberedRuns.delete(taskId);
  }
}

export async function carryOver({ db, mayBeOverwritten }: OldFile, rememberedRuns: RememberedRuns): Promise<CarryOver> {
  const carryUnfinishedRuns = db === undefined ? undefined : await carryUnfinished(db);
  const remembered = mayBeOverwritten ? [...rememberedRuns.values()] : [];
  return async (to) => {
    await carryUnfinishedRuns?.(to);
    await carryRemembered(remembered, to);
  };
}

async function carryRemembered(remembered: readonly RememberedRun[], to: Database): Promise<void> {
  for (const { run, attempts } of remembered.toSorted((one, other) => one.run.created_at - other.run.created_at)) {
    // The restored row knows its parent; the link in memory may lead to a run that the file does not contain.
    const { parent_task_id: _parent, ...state } = run;
    await to.transaction().execute(async (transaction) => {
      await insertRuns(transaction, [run], attempts);
      // The restored run may be in an earlier state: not yet accepted, or with a plan that was approved since.
      await transaction
        .updateTable("research_tasks")
        .set(state)
        .where("task_id", "=", run.task_id)
        .where("status", "in", UNFINISHED)
        // A later state was written by another process, which may have started the run again.
        .where("updated_at", "<", run.updated_at)
        .where((row) => row.or([row("interaction_id", "is", null), row("interaction_id", "!=", run.interaction_id)]))
        .execute();
    });
  }
  await saveMissingIds(
    to,
    remembered.flatMap(({ attempts }) => attempts),
  );
}

/** Reads all unfinished or still polled runs with their related rows; the returned function inserts them. */
async function carryUnfinished(from: Database): Promise<CarryOver> {
  const unfinished = from
    .selectFrom("research_tasks")
    .where((run) => run.or([run("status", "in", UNFINISHED), run("next_poll_at", "is not", null)]));
  const ids = unfinished.select("task_id");
  const runs = await unfinished.selectAll().execute();
  const attempts = await from.selectFrom("research_attempts").selectAll().where("task_id", "in", ids).execute();
  const results = await from.selectFrom("research_results").selectAll().where("task_id", "in", ids).execute();
  const rounds = await from.selectFrom("research_rounds").selectAll().where("task_id", "in", ids).execute();
  const pictures = await from.selectFrom("research_pictures").selectAll().where("task_id", "in", ids).execute();
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
      await insertRuns(transaction, runs, attempts);
      for (const row of rounds) await keepExisting(transaction.insertInto("research_rounds").values(row));
      // search_rowid refers to the index of the old file.
      for (const row of results)
        await keepExisting(transaction.insertInto("research_results").values({ ...row, search_rowid: null }));
      for (const row of pictures) await keepExisting(transaction.insertInto("research_pictures").values(row));
      for (const row of files) await keepExisting(transaction.insertInto("research_files").values(row));
      await copyNotifications(transaction, notifications);
    });
    await saveMissingIds(to, accepted);
  };
}

type AcceptedAttempt = Pick<AttemptRow, "attempt_id" | "interaction_id" | "answered_at" | "created_at">;

async function saveMissingIds(to: Database, attempts: readonly AcceptedAttempt[]): Promise<void> {
  const withoutId = await attemptsWithoutId(to);
  for (const { attempt_id: attemptId, interaction_id: interactionId, answered_at, created_at } of attempts) {
    if (interactionId === null || !withoutId.has(attemptId)) continue;
    await saveInteractionId(to, { attemptId, interactionId, now: answered_at ?? created_at });
  }
}

async function insertRuns(to: Database, runs: readonly RunRow[], attempts: readonly AttemptRow[]): Promise<void> {
  // A parent is older than its follow-ups, and comes first.
  for (const row of runs.toSorted((one, other) => one.created_at - other.created_at)) {
    const parent_task_id = await existingParent(to, row);
    await keepExisting(to.insertInto("research_tasks").values({ ...row, parent_task_id }));
  }
  for (const row of attempts) await keepExisting(to.insertInto("research_attempts").values(row));
}

/** Null if the new file lacks the parent, because finished runs are not copied. */
async function existingParent(to: Database, { parent_task_id: parent }: RunRow): Promise<string | null> {
  if (parent === null) return null;
  const found = await to
    .selectFrom("research_tasks")
    .select("task_id")
    .where("task_id", "=", parent)
    .executeTakeFirst();
  return found?.task_id ?? null;
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
