/** SQL for full-text search over titles, questions and reports, and over those of runs without a report. */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";
import { type FullText, fullText } from "../../store/full-text.ts";
import { countRows, type ListCounts } from "../library/count-store.ts";
import { hasStatus, isListed } from "../conversation-store.ts";
import { RUN_STATUSES, type RunStatus } from "../run.ts";
import type { RunFilter } from "../run-store.ts";
import { excerptOf, type ExcerptAllowance, type SearchTokens, soughtIn } from "./search-excerpt.ts";
import { type FoundPiece, filterByWords, type SearchWord } from "./search-terms.ts";

export interface RunSearch extends Omit<RunFilter, "before"> {
  words: SearchWord[];
  /** The offset of the page. */
  skip: number;
}

export interface FoundRun {
  taskId: string;
  found: FoundPiece[];
}

/** Only the newest matches are ranked, fewer for more words: nearly every report may match a common word. */
const MAX_RANKED = 2_000;

/** Best match first. */
export async function searchReports(db: Database, search: RunSearch): Promise<FoundRun[]> {
  const { words, limit, skip } = search;
  if (words.length === 0) return [];
  const { rank, ...index } = fullText(db, words);
  const found = foundIn(search, index);
  const oldest = await sql<{ id: number }>`
    select found.rowid as id ${found}
    order by found.rowid desc limit 1 offset ${Math.ceil(MAX_RANKED / words.length)}`.execute(db);
  const newest = oldest.rows[0] === undefined ? sql`` : sql`and found.rowid > ${oldest.rows[0].id}`;
  const { rows } = await sql<{ id: number; task_id: string; title: string | null }>`
    select found.rowid as id, found.task_id, task.title as title
    ${found} ${newest} order by ${rank} limit ${limit} offset ${skip}`.execute(db);
  const sought = soughtIn(words);
  const allowance = { characters: MAX_SCANNED_CHARACTERS };
  const runs: FoundRun[] = [];
  for (const { id, task_id, title } of rows) {
    runs.push({ taskId: task_id, found: await excerptFrom(db, { id, title: title ?? "" }, { sought, allowance }) });
  }
  return runs;
}

/** Bounds the cost of a count: nearly every report may match a common word. */
const MAX_COUNTED = 1_000;

/** The numbers of matches, whatever state or mark the search is for; of reports only the newest are counted. */
export async function countFound(
  db: Database,
  { owner, words, kind }: Pick<RunSearch, "owner" | "words" | "kind">,
): Promise<ListCounts> {
  if (words.length === 0) return countRows([]);
  const inReports = foundIn({ owner, status: undefined, kind }, fullText(db, words));
  const { rows } = await sql<{ status: RunStatus; starred: number; archived: number }>`
    select task.status as status, task.starred as starred, task.archived as archived ${inReports} order by found.rowid desc limit ${MAX_COUNTED}`.execute(
    db,
  );
  const inQuestions = (await Promise.all(WITHOUT_REPORT.map((state) => newestWithoutReport(db, owner, state)))).flat();
  const ofKind = inQuestions.filter((run) => kind === undefined || run.kind === kind);
  return countRows([...rows, ...filterByWords(ofKind, words)]);
}

/** Limits for all excerpts of a page together, and for one report. */
const MAX_SCANNED_CHARACTERS = 2_000_000;
const MAX_REPORT_CHARACTERS = 200_000;

/** Called for one report at a time, so that only one is in memory. */
async function excerptFrom(
  db: Database,
  { id, title }: { id: number; title: string },
  { sought, allowance }: { sought: readonly SearchTokens[]; allowance: ExcerptAllowance },
): Promise<FoundPiece[]> {
  const { rows } = await sql<{ question: string; report: string }>`
    select substr(query, 1, ${MAX_QUESTION_CHARACTERS}) as question, substr(report, 1, ${MAX_REPORT_CHARACTERS}) as report
    from research_search where rowid = ${id}`.execute(db);
  const [texts] = rows;
  if (texts === undefined) return [];
  // The title may have changed since it was read.
  const prefix = title === "" ? "" : `${title}\n`;
  const question = texts.question.startsWith(prefix) ? texts.question.slice(prefix.length) : texts.question;
  return excerptOf({ title, question, report: texts.report }, sought, allowance);
}

/** The full-text index is the outer loop, so that rows arrive in the requested order. */
const foundIn = (
  { owner, status, kind, starred, archived }: Pick<RunSearch, "owner" | "status" | "kind" | "starred" | "archived">,
  { join, matches }: Pick<FullText, "join" | "matches">,
) => sql`
  from research_search as found
  ${join} research_tasks as task on task.task_id = found.task_id
  where ${matches} and task.owner = ${owner}
    ${status === undefined ? sql`` : sql`and ${hasStatus(status, "task")}`}
    ${kind === undefined ? sql`` : sql`and task.kind = ${kind}`}
    ${starred === true ? sql`and task.starred = 1` : sql``}
    ${archived === undefined ? sql`` : sql`and task.archived = ${archived ? 1 : 0}`}`;

/** Runs without a report are not indexed: only the newest of each state are scanned. */
const MAX_QUESTIONS_PER_STATE = 1_000;
/** Only the beginning of a question is searched. */
const MAX_QUESTION_CHARACTERS = 2_000;
const WITHOUT_REPORT = RUN_STATUSES.filter((status) => status !== "completed");

/** Newest first. */
export async function searchQuestions(db: Database, search: RunSearch): Promise<FoundRun[]> {
  const { owner, words, status, kind, starred, archived, limit, skip } = search;
  if (words.length === 0) return [];
  const states = WITHOUT_REPORT.filter((state) => status === undefined || state === status);
  const perState = await Promise.all(states.map((state) => newestWithoutReport(db, owner, state)));
  const newestFirst = perState
    .flat()
    .filter((run) => kind === undefined || run.kind === kind)
    .filter((run) => starred !== true || run.starred === 1)
    .filter((run) => archived === undefined || archived === (run.archived === 1))
    .toSorted((one, other) => other.created_at - one.created_at);
  const page = filterByWords(newestFirst, words).slice(skip, skip + limit);
  return page.map((run) => ({ taskId: run.task_id, found: [] }));
}

const newestWithoutReport = (db: Database, owner: string, status: RunStatus) =>
  db
    .selectFrom("research_tasks")
    .leftJoin("research_results as result", "result.task_id", "research_tasks.task_id")
    .select(["research_tasks.task_id", "kind", "created_at", "starred", "archived"])
    .select(sql.lit(status).as("status"))
    .select(sql<string>`coalesce(title, '') || ' ' || substr(query, 1, ${MAX_QUESTION_CHARACTERS})`.as("query"))
    .where("owner", "=", owner)
    .where(hasStatus(status))
    .where(isListed)
    .where("result.search_rowid", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("research_tasks.task_id", "desc")
    .limit(MAX_QUESTIONS_PER_STATE)
    .execute();
