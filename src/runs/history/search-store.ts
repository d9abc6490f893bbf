/**
 * Full-text search over titles, tags, notes, questions, reports and sources, and over those of runs without a report: the words of a search,
 * its SQL, and excerpts around the words that were found.
 */

import { sql } from "kysely";
import type { Database } from "../../store/database.ts";
import { fullText, type FullText, questionWithNames, type SoughtText } from "../../store/full-text.ts";
import { countRows, type ListCounts } from "../library/count-store.ts";
import { hasStatus, isListed } from "../conversation-store.ts";
import { RUN_STATUSES, type RunStatus, statusesIn } from "../run.ts";
import { readTags } from "../run-row.ts";
import { hasTag, type RunFilter } from "../run-store.ts";

export interface RunSearch extends Omit<RunFilter, "before"> {
  words: SoughtText[];
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
  const { rows } = await sql<{ id: number; task_id: string; title: string | null; tags: string | null }>`
    select found.rowid as id, found.task_id, task.title as title, task.tags as tags
    ${found} ${newest} order by ${rank} limit ${limit} offset ${skip}`.execute(db);
  const sought = soughtIn(words);
  const allowance = { characters: MAX_SCANNED_CHARACTERS };
  const runs: FoundRun[] = [];
  for (const { id, task_id, title, tags } of rows) {
    const named = { id, title: title ?? "", tags: readTags(tags).join(" ") };
    runs.push({ taskId: task_id, found: await excerptFrom(db, named, { sought, allowance }) });
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
  { id, title, tags }: { id: number; title: string; tags: string },
  { sought, allowance }: { sought: readonly SearchTokens[]; allowance: ExcerptAllowance },
): Promise<FoundPiece[]> {
  const { rows } = await sql<{ question: string; report: string; beside: string }>`
    select substr(query, 1, ${MAX_QUESTION_CHARACTERS}) as question,
      substr(report, 1, ${MAX_REPORT_CHARACTERS}) as report, coalesce(beside, '') as beside
    from research_search where rowid = ${id}`.execute(db);
  const [texts] = rows;
  if (texts === undefined) return [];
  // They may have changed since they were read.
  const prefix = questionWithNames("", [title, tags]);
  const question = texts.question.startsWith(prefix) ? texts.question.slice(prefix.length) : texts.question;
  return excerptOf({ ...texts, title, question }, sought, allowance);
}

/** The full-text index is the outer loop, so that rows arrive in the requested order. */
const foundIn = (
  { owner, status, kind, starred, tag, archived }: Omit<RunSearch, "words" | "limit" | "skip">,
  { join, matches }: Pick<FullText, "join" | "matches">,
) => sql`
  from research_search as found
  ${join} research_tasks as task on task.task_id = found.task_id
  where ${matches} and task.owner = ${owner}
    ${status === undefined ? sql`` : sql`and ${hasStatus(status, "task")}`}
    ${kind === undefined ? sql`` : sql`and task.kind = ${kind}`}
    ${starred === true ? sql`and task.starred = 1` : sql``}
    ${tag === undefined ? sql`` : sql`and ${hasTag(tag)}`}
    ${archived === undefined ? sql`` : sql`and task.archived = ${archived ? 1 : 0}`}`;

/** Runs without a report are not indexed: only the newest of each state are scanned. */
const MAX_QUESTIONS_PER_STATE = 1_000;
/** Only the beginning of a question is searched. */
const MAX_QUESTION_CHARACTERS = 2_000;
const WITHOUT_REPORT = RUN_STATUSES.filter((status) => status !== "completed");

/** Newest first. */
export async function searchQuestions(db: Database, search: RunSearch): Promise<FoundRun[]> {
  const { owner, words, status, kind, starred, tag, archived, limit, skip } = search;
  if (words.length === 0) return [];
  const states = WITHOUT_REPORT.filter((state) => status === undefined || statusesIn(status).includes(state));
  const perState = await Promise.all(states.map((state) => newestWithoutReport(db, owner, state)));
  const newestFirst = perState
    .flat()
    .filter((run) => kind === undefined || run.kind === kind)
    .filter((run) => starred !== true || run.starred === 1)
    .filter((run) => tag === undefined || readTags(run.tags).includes(tag))
    .filter((run) => archived === undefined || archived === (run.archived === 1))
    .toSorted((one, other) => other.created_at - one.created_at);
  const page = filterByWords(newestFirst, words).slice(skip, skip + limit);
  return page.map((run) => ({ taskId: run.task_id, found: [] }));
}

const newestWithoutReport = (db: Database, owner: string, status: RunStatus) =>
  db
    .selectFrom("research_tasks")
    .leftJoin("research_results as result", "result.task_id", "research_tasks.task_id")
    .select(["research_tasks.task_id", "kind", "created_at", "tags", "starred", "archived"])
    .select(sql.lit(status).as("status"))
    .select(
      sql<string>`coalesce(title, '') || coalesce(tags, ' ') || coalesce(note || ' ', '') || substr(query, 1, ${MAX_QUESTION_CHARACTERS})`.as(
        "query",
      ),
    )
    .where("owner", "=", owner)
    .where(hasStatus(status))
    .where(isListed)
    .where("result.search_rowid", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("research_tasks.task_id", "desc")
    .limit(MAX_QUESTIONS_PER_STATE)
    .execute();

/** A search word as index tokens: several if it is a phrase or contains punctuation. */
export interface SearchTokens {
  tokens: string[];
  begins: boolean;
}

/** The number of characters that may still be scanned, shared by all excerpts of a result page. */
export interface ExcerptAllowance {
  characters: number;
}

interface FoundToken {
  start: number;
  end: number;
  folded: string;
}

const TOKEN = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

const SLICE_CHARACTERS = 4_000;
/** A word or phrase that crosses the end of a slice is found in the next one. */
const OVERLAP_CHARACTERS = 200;

const MAX_EXCERPT_WORDS = 24;
const WORDS_BEFORE = 6;
const CHARACTERS_BEFORE = 200;
const CHARACTERS_AFTER = 400;

export const soughtIn = (words: readonly SoughtText[]): SearchTokens[] =>
  words
    .map(({ text, begins }) => ({ tokens: tokensIn(text).map(({ folded }) => folded), begins }))
    .filter(({ tokens }) => tokens.length > 0);

/**
 * Taken from the title or the question if one of them has all words, else from the first match in the report of a word
 * that neither has, else from the note or the sources, else from the start of the report.
 */
export function excerptOf(
  { title = "", question, report, beside = "" }: { title?: string; question: string; report: string; beside?: string },
  sought: readonly SearchTokens[],
  allowance: ExcerptAllowance,
): FoundPiece[] {
  const isMissingIn = (tokens: readonly FoundToken[]) => (word: SearchTokens) => hitsIn(tokens, [word]).length === 0;
  const named = tokensIn(title);
  if (title !== "" && !sought.some(isMissingIn(named))) return piecesAround(title, 0, sought);
  const asked = wholeTokens(question, 0, SLICE_CHARACTERS);
  const others = sought.filter(isMissingIn(named)).filter(isMissingIn(asked));
  const inReport = others.length === 0 ? undefined : firstHit(report, others, allowance);
  const besideIt = others.length === 0 || inReport !== undefined ? undefined : firstHit(beside, others, allowance);
  if (besideIt !== undefined) return piecesAround(beside, besideIt, sought);
  const [inQuestion] = hitsIn(asked, sought);
  if (inReport !== undefined || inQuestion === undefined) return piecesAround(report, inReport ?? 0, sought);
  return piecesAround(question, asked[inQuestion.from]?.start ?? 0, sought);
}

function firstHit(text: string, sought: readonly SearchTokens[], allowance: ExcerptAllowance): number | undefined {
  for (let from = 0; from < text.length && allowance.characters > 0; from += SLICE_CHARACTERS) {
    allowance.characters -= SLICE_CHARACTERS;
    const start = Math.max(0, from - OVERLAP_CHARACTERS);
    const slice = text.slice(start, from + SLICE_CHARACTERS);
    // A substring check is faster than tokenizing, and most slices have no match.
    const letters = foldedText(slice);
    if (!sought.some(({ tokens: [first = ""] }) => letters.includes(first))) continue;
    const tokens = wholeTokens(text, start, from + SLICE_CHARACTERS);
    const [hit] = hitsIn(tokens, sought);
    if (hit !== undefined) return tokens[hit.from]?.start;
  }
  return undefined;
}

function tokensIn(text: string, offset = 0): FoundToken[] {
  return [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({
    start: offset + index,
    end: offset + index + word.length,
    folded: foldedText(word),
  }));
}

/** Tokens of a slice without those that its ends cut in two. */
function wholeTokens(text: string, from: number, to: number): FoundToken[] {
  return tokensIn(text.slice(from, to), from).filter(
    ({ start, end }) => (start > from || from === 0) && (end < to || to >= text.length),
  );
}

/** Indices into a list of tokens, end inclusive. */
interface Hit {
  from: number;
  to: number;
}

function hitsIn(found: readonly FoundToken[], sought: readonly SearchTokens[]): Hit[] {
  const hits: Hit[] = [];
  for (let from = 0; from < found.length; from += 1) {
    const lengths = sought.filter((word) => matchesAt(found, from, word)).map(({ tokens }) => tokens.length);
    if (lengths.length === 0) continue;
    const to = from + Math.max(...lengths) - 1;
    hits.push({ from, to });
    from = to;
  }
  return hits;
}

const matchesAt = (found: readonly FoundToken[], at: number, { tokens, begins }: SearchTokens): boolean =>
  tokens.every((token, index) => {
    const folded = found[at + index]?.folded ?? "";
    return folded === token || (begins && index === tokens.length - 1 && folded.startsWith(token));
  });

function piecesAround(text: string, at: number, sought: readonly SearchTokens[]): FoundPiece[] {
  const from = Math.max(0, at - CHARACTERS_BEFORE);
  const to = Math.min(text.length, at + CHARACTERS_AFTER);
  const near = wholeTokens(text, from, to);
  const first = Math.max(0, near.findIndex(({ start }) => start >= at) - WORDS_BEFORE);
  const tokens = near.slice(first, first + MAX_EXCERPT_WORDS);
  const start = first === 0 && from === 0 ? 0 : (tokens[0]?.start ?? from);
  const end = first + MAX_EXCERPT_WORDS >= near.length && to === text.length ? to : (tokens.at(-1)?.end ?? to);
  const pieces: FoundPiece[] = start === 0 ? [] : [{ text: "…" }];
  let written = start;
  for (const hit of hitsIn(tokens, sought)) {
    const [begins = 0, ends = 0] = [tokens[hit.from]?.start, tokens[hit.to]?.end];
    pieces.push({ text: normalizeText(text.slice(written, begins)) });
    pieces.push({ text: normalizeText(text.slice(begins, ends)), marked: true });
    written = ends;
  }
  pieces.push({ text: normalizeText(text.slice(written, end)) + (end < text.length ? "…" : "") });
  return pieces.filter((piece) => piece.text !== "");
}

const LONE_SURROGATES = /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g;

const normalizeText = (text: string): string => text.replaceAll(LONE_SURROGATES, "").replaceAll(/\s+/g, " ");

const MAX_WORDS = 32;
/** The index contains only letters and digits; a word without any would never match. */
const HAS_LETTER = /[\p{L}\p{N}\p{Co}]/u;
/** Short ASCII prefixes such as "the" would scan most of the index. Scripts without spaces have no minimum. */
const MIN_PREFIX_LETTERS = 4;
const IS_ASCII = /^[\n\u0020-\u007E]*$/;
const WORD_OR_PHRASE = /"([^"]*)"|[^\s"]+/gu;

/** Splits the text into words, and phrases in quotation marks. */
export function searchWords(text: string): SoughtText[] {
  const pieces = [...text.replaceAll("\0", " ").matchAll(WORD_OR_PHRASE)]
    .map(([whole, phrase]) => ({ text: (phrase ?? whole).trim(), phrase: phrase !== undefined }))
    .filter((piece) => HAS_LETTER.test(piece.text))
    .slice(0, MAX_WORDS);
  return pieces.map(({ text: word, phrase }, index) => ({
    text: word,
    begins: index === pieces.length - 1 && !phrase && (word.length >= MIN_PREFIX_LETTERS || !IS_ASCII.test(word)),
  }));
}

/** Normalises text as the index does: lower case, without accents. */
const foldedText = (text: string): string =>
  // ASCII text skips the much slower Unicode normalization.
  (IS_ASCII.test(text) ? text : text.normalize("NFD").replaceAll(/\p{M}/gu, "")).toLowerCase();

/** The items whose question contains all words. */
export function filterByWords<Item extends { query: string }>(items: Item[], words: readonly SoughtText[]): Item[] {
  const sought = words.map(({ text }) => foldedText(text));
  return items.filter(({ query }) => {
    const inside = foldedText(query);
    return sought.every((word) => inside.includes(word));
  });
}

export interface FoundPiece {
  text: string;
  marked?: boolean;
}
