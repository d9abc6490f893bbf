/** The SQL of finding runs by words: the index over questions and reports, and the questions that are not in it. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";
import { type FullText, fullText } from "../../store/full-text.ts";
import { type RunKind, RUN_STATUSES, type RunStatus } from "../run.ts";
import { excerptOf, type ExcerptAllowance, type Sought, soughtIn } from "./search-excerpt.ts";
import { type FoundPiece, holdingWords, type SearchWord } from "./search-terms.ts";

export interface RunSearch {
  owner: string;
  words: SearchWord[];
  status: RunStatus | undefined;
  kind: RunKind | undefined;
  limit: number;
  /** How many of those before are known already. */
  skip: number;
}

export interface FoundRun {
  taskId: string;
  found: FoundPiece[];
}

/** A word that nearly every report holds: of those that do, so many of the newest are put in order, fewer by more words. */
const MOST_RANKED = 2_000;

/** The best first. */
export async function searchReports(db: Database, search: RunSearch): Promise<FoundRun[]> {
  const { words, limit, skip } = search;
  if (words.length === 0) return [];
  const { rank, ...index } = fullText(db, words);
  const found = foundIn(search, index);
  const oldest = await sql<{ id: number }>`
    select found.rowid as id ${found}
    order by found.rowid desc limit 1 offset ${Math.ceil(MOST_RANKED / words.length)}`.execute(db);
  const newest = oldest.rows[0] === undefined ? sql`` : sql`and found.rowid > ${oldest.rows[0].id}`;
  const { rows } = await sql<{ id: number; task_id: string }>`
    select found.rowid as id, found.task_id
    ${found} ${newest} order by ${rank} limit ${limit} offset ${skip}`.execute(db);
  const sought = soughtIn(words);
  const allowance = { characters: MOST_LOOKED_AT };
  const runs: FoundRun[] = [];
  for (const { id, task_id } of rows) {
    runs.push({ taskId: task_id, found: await excerptFrom(db, id, { sought, allowance }) });
  }
  return runs;
}

/** Of all that is shown together, and of one report. */
const MOST_LOOKED_AT = 2_000_000;
const MOST_OF_ONE = 200_000;

/** One after the other, so that there is never more in memory than one. */
async function excerptFrom(
  db: Database,
  id: number,
  { sought, allowance }: { sought: readonly Sought[]; allowance: ExcerptAllowance },
): Promise<FoundPiece[]> {
  const { rows } = await sql<{ question: string; report: string }>`
    select substr(query, 1, ${MOST_OF_QUESTION}) as question, substr(report, 1, ${MOST_OF_ONE}) as report
    from research_search where rowid = ${id}`.execute(db);
  return rows[0] === undefined ? [] : excerptOf(rows[0], sought, allowance);
}

/** The index is the outer loop: it gives its rows in the order that is asked for. */
const foundIn = ({ owner, status, kind }: RunSearch, { join, matches }: Pick<FullText, "join" | "matches">) => sql`
  from research_search as found
  ${join} research_tasks as task on task.task_id = found.task_id
  where ${matches} and task.owner = ${owner}
    ${status === undefined ? sql`` : sql`and task.status = ${status}`}
    ${kind === undefined ? sql`` : sql`and task.kind = ${kind}`}`;

/** Runs without a report are in no index. Of each state only so many of the newest are looked through. */
const MOST_LOOKED_THROUGH = 1_000;
/** What somebody remembers of a question stands at its beginning. */
const MOST_OF_QUESTION = 2_000;
const WITHOUT_REPORT = RUN_STATUSES.filter((status) => status !== "completed");

/** Newest first. */
export async function searchQuestions(db: Database, search: RunSearch): Promise<FoundRun[]> {
  const { owner, words, status, kind, limit, skip } = search;
  if (words.length === 0) return [];
  const states = WITHOUT_REPORT.filter((state) => status === undefined || state === status);
  const perState = await Promise.all(states.map((state) => newestWithoutReport(db, owner, state)));
  const newestFirst = perState
    .flat()
    .filter((run) => kind === undefined || run.kind === kind)
    .toSorted((one, other) => other.created_at - one.created_at);
  return holdingWords(newestFirst, { words, skip, limit }).map((run) => ({ taskId: run.task_id, found: [] }));
}

const newestWithoutReport = (db: Database, owner: string, status: RunStatus) =>
  db
    .selectFrom("research_tasks as task")
    .leftJoin("research_results as result", "result.task_id", "task.task_id")
    .select(["task.task_id", "task.kind", "task.created_at"])
    .select(sql<string>`substr(task.query, 1, ${MOST_OF_QUESTION})`.as("query"))
    .where("task.owner", "=", owner)
    .where("task.status", "=", status)
    .where("result.search_rowid", "is", null)
    .orderBy("task.created_at", "desc")
    .orderBy("task.task_id", "desc")
    .limit(MOST_LOOKED_THROUGH)
    .execute();
