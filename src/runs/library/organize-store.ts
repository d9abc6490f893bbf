/** SQL for what a user adds to a run: its title, its tags, its note, its star, and whether it is archived. */

import { AppError, invalidInput } from "../../errors.ts";
import { type Database, storable } from "../../store/database.ts";
import { lockRun } from "../lock-store.ts";
import { aboutRun, isFinished, type Run } from "../run.ts";
import { currentOf } from "../conversation-store.ts";
import { updateSearch } from "../result-store.ts";
import { readTags, storedTags } from "../run-row.ts";
import { cleanText } from "../../platform/clean-text.ts";

export interface RunMarks {
  owner: string;
  taskId: string;
  /** Empty: the run is shown by its question again. Undefined: unchanged, as for the other marks. */
  title: string | undefined;
  /** Tags to add, and to remove. */
  tag?: readonly string[] | undefined;
  untag?: readonly string[] | undefined;
  /** Empty: the run has none. */
  note?: string | undefined;
  starred: boolean | undefined;
  archived: boolean | undefined;
  now: number;
}

/** Returns the run as it is afterwards. A run that has not ended cannot be archived: its cost would be out of sight. */
export function organizeRun(db: Database, marks: RunMarks): Promise<Run> {
  const { owner, note, starred, archived, now } = marks;
  return db.transaction().execute(async (transaction) => {
    const { taskId } = await currentOf(transaction, owner, marks.taskId);
    await lockRun(transaction, taskId);
    const run = await currentOf(transaction, owner, taskId);
    if (archived === true && !isFinished(run.status)) throw notEnded(run);
    const title = titleFor(run, marks.title);
    const tags = tagsFor(run, marks);
    await transaction
      .updateTable("research_tasks")
      .set({
        title: title ?? null,
        tags: storedTags(tags),
        ...(note === undefined ? {} : { note: storable(note) || null }),
        ...(starred === undefined ? {} : { starred: starred ? 1 : 0 }),
        ...(archived === undefined ? {} : { archived: archived ? 1 : 0 }),
        updated_at: now,
      })
      .where("task_id", "=", taskId)
      .execute();
    const isFoundOtherwise = title !== run.title || tags.join(" ") !== run.tags.join(" ") || note !== undefined;
    if (isFoundOtherwise) await updateSearch(transaction, taskId);
    return currentOf(transaction, owner, taskId);
  });
}

/** The question as a title is none. */
function titleFor({ title, query }: Run, given: string | undefined): string | undefined {
  if (given === undefined) return title;
  return given === "" || given === cleanTitle(query) ? undefined : storable(given);
}

function tagsFor({ tags }: Run, { tag = [], untag = [] }: RunMarks): string[] {
  const kept = [...new Set([...tags, ...tag])].filter((word) => !untag.includes(word));
  if (kept.length <= MAX_TAGS) return kept;
  throw invalidInput(`A run has at most ${MAX_TAGS} tags.`, {
    suggestion: `Its tags are: ${tags.join(", ")}. Remove one first.`,
  });
}

const MAX_TAGS = 20;

/** All tags of an owner, in alphabetical order. */
export async function listTags(db: Database, owner: string): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("tags")
    .distinct()
    .where("owner", "=", owner)
    .where("tags", "is not", null)
    .limit(MAX_READ_ROWS)
    .execute();
  return [...new Set(rows.flatMap(({ tags }) => readTags(tags)))].toSorted((one, other) => one.localeCompare(other));
}

const MAX_READ_ROWS = 1_000;

const notEnded = (run: Run): AppError =>
  new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message: "This run has not ended, so it was not archived.",
    suggestion: "Archive it when it has ended.",
    run: aboutRun(run),
  });

export const MAX_TITLE_CHARACTERS = 200;
export const MAX_NOTE_CHARACTERS = 5_000;

/** One line without control and invisible characters. */
export const cleanTitle = (typed: string): string => cleanText(typed).replaceAll(/\s+/g, " ").trim();

/** A tag is one word; the mark in front of it is how lists show it. */
export const cleanTag = (typed: string): string => cleanTitle(typed).replace(/^#+/, "").toLowerCase();
export const TAG = /^[^\s,]{1,40}$/u;
