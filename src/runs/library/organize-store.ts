/** SQL for what a user notes on a run: its title, its star, and whether it is archived. */

import { AppError } from "../../errors.ts";
import { type Database, storable } from "../../store/database.ts";
import { lockRun } from "../lock-store.ts";
import { aboutRun, isFinished, type Run } from "../run.ts";
import { currentOf } from "../conversation-store.ts";
import { updateTitleInSearch } from "../result-store.ts";
import { cleanText } from "../../platform/clean-text.ts";

export interface RunMarks {
  owner: string;
  taskId: string;
  /** Empty: the run is shown by its question again. Undefined: unchanged, as for the other marks. */
  title: string | undefined;
  starred: boolean | undefined;
  archived: boolean | undefined;
  now: number;
}

/** Returns the run as it is afterwards. A run that has not ended cannot be archived: its cost would be out of sight. */
export function organizeRun(db: Database, marks: RunMarks): Promise<Run> {
  const { owner, starred, archived, now } = marks;
  return db.transaction().execute(async (transaction) => {
    const { taskId } = await currentOf(transaction, owner, marks.taskId);
    await lockRun(transaction, taskId);
    const run = await currentOf(transaction, owner, taskId);
    if (archived === true && !isFinished(run.status)) throw notEnded(run);
    const title = titleFor(run, marks.title);
    await transaction
      .updateTable("research_tasks")
      .set({
        title: title ?? null,
        ...(starred === undefined ? {} : { starred: starred ? 1 : 0 }),
        ...(archived === undefined ? {} : { archived: archived ? 1 : 0 }),
        updated_at: now,
      })
      .where("task_id", "=", taskId)
      .execute();
    if (title !== run.title) await updateTitleInSearch(transaction, { ...run, title });
    return currentOf(transaction, owner, taskId);
  });
}

/** The question as a title is none. */
function titleFor({ title, query }: Run, given: string | undefined): string | undefined {
  if (given === undefined) return title;
  return given === "" || given === cleanTitle(query) ? undefined : storable(given);
}

const notEnded = (run: Run): AppError =>
  new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message: "This run has not ended, so it was not archived.",
    suggestion: "Archive it when it has ended.",
    run: aboutRun(run),
  });

export const MAX_TITLE_CHARACTERS = 200;

/** One line without control and invisible characters. */
export const cleanTitle = (typed: string): string => cleanText(typed).replaceAll(/\s+/g, " ").trim();
