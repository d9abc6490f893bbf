/** `list_research`: lists stored runs, newest first, or searches them by words, best match first. */

import { z } from "zod";
import { type AppError, invalidInput } from "../errors.ts";
import type { Database } from "../store/database.ts";
import { failedUncharged, type Run, RUN_KINDS, RUN_STATUSES, STATUS_FILTERS } from "../runs/run.ts";
import { tagField } from "./organize-run.ts";
import { findRuns, listRuns, type RunFilter } from "../runs/run-store.ts";
import type { FoundPiece } from "../runs/history/search-store.ts";
import { conversationRoots } from "./followup/conversation.ts";
import { factLines } from "./parts/answer-text.ts";
import { headOf } from "./view/head-view.ts";
import { costSchema, type RunHead, runHead } from "./view/run-view.ts";
import {
  CAUTION,
  defineOperation,
  flagField,
  type OperationDeps,
  outputSchema,
  wholeNumberField,
} from "./operation.ts";

const listInput = z.strictObject({
  status: z
    .enum(RUN_STATUSES, { error: `{status} must be one of ${RUN_STATUSES.join(", ")}.` })
    .optional()
    .describe("Only runs with this status."),
  kind: z
    .enum(RUN_KINDS, { error: `{kind} must be one of ${RUN_KINDS.join(", ")}.` })
    .optional()
    .describe("Only this kind; agent is start_deep_research."),
  text: z
    .string({ error: "{text} must be a string." })
    .regex(/^[^]{0,1000}$/, { error: "{text} must have at most 1,000 characters." })
    .optional()
    .describe("Words in titles, questions and reports."),
  tag: tagField("tag").optional().describe("Only runs with this tag."),
  limit: wholeNumberField("limit", { min: 1, max: 100 }).default(20).describe("Maximum number."),
  cursor: z
    .string({ error: "{cursor} must be a string." })
    .regex(/^[\w-]{1,200}$/, { error: "{cursor} is not valid." })
    .optional()
    .describe("next_cursor of the previous page."),
});

/** The list on the page and in the terminal, which omits archived runs unless they are asked for. */
export const libraryInput = listInput.extend({
  status: z.enum(STATUS_FILTERS, { error: `{status} must be one of ${STATUS_FILTERS.join(", ")}.` }).optional(),
  starred: flagField("starred").optional(),
  archived: flagField("archived").default(false),
});

export const listResearch = defineOperation({
  name: "list_research",
  title: "List research runs",
  description:
    "Lists stored runs with question, status and cost, newest first, or those with the words of text, best first. To find a task_id, for example of a lost call. Free, instant, local.",
  input: listInput,
  output: outputSchema({
    runs: z.array(
      z.looseObject({
        ...runHead.pick({ task_id: true, kind: true, query: true, status: true, progress: true }).shape,
        error_code: runHead.shape.error_code,
        follow_up: z.boolean().optional(),
        ...runHead.pick({ created_at: true, completed_at: true }).shape,
        ...costSchema,
        found: z.string().optional(),
      }),
    ),
    next_cursor: z.string().describe("Present when there are more."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: undefined,
  // Only excerpts of reports, which `listAnswer` marks.
  webText: [],
  // Archived runs too: a model looks for a certain run, and must not start and pay for it again.
  run: async (deps, input, call) => listAnswer(await runPage(await deps.database(), call.owner, input), deps),
  toText: ({ caution, runs, next_cursor }) => {
    if (runs.length === 0) return "No matching runs.";
    const lines = [...(caution === undefined ? [] : [caution]), ...runs.map((run) => factLines(run))];
    if (next_cursor !== undefined) lines.push(`next_cursor: ${next_cursor}`);
    return lines.join("\n\n");
  },
});

/** The same list as the page shows, for the command line. Not a tool: `list_research` is enough for models. */
export const listLibrary = defineOperation({
  name: listResearch.name,
  title: listResearch.title,
  description: listResearch.description,
  annotations: listResearch.annotations,
  positional: listResearch.positional,
  toText: listResearch.toText,
  output: listResearch.output.extend({
    left_out: z.number().optional(),
    roots: z.record(z.string(), z.string()).optional(),
  }),
  webText: [],
  input: libraryInput,
  run: async (deps, { archived, ...input }, call) => {
    // With words a certain run is looked for, which may have been archived.
    const hasWords = (input.text ?? "").trim() !== "";
    const request = hasWords && !archived ? input : { ...input, archived };
    const db = await deps.database();
    const isAll = hasWords || input.status !== undefined;
    const page = await (isAll ? runPage : pageWorthReading)(db, call.owner, request);
    const roots = await conversationRoots(
      db,
      page.runs.map(({ run }) => run),
    );
    return listAnswer({ ...page, roots: new Map([...roots].map(([id, root]) => [id, root.taskId])) }, deps);
  },
});

/** A page without the starts that failed and cost nothing, which it counts. */
async function pageWorthReading(db: Database, owner: string, request: ListRequest): Promise<ListedPage> {
  const page: ListedPage = { runs: [], next_cursor: request.cursor };
  let left_out = 0;
  do {
    const limit = request.limit - page.runs.length;
    const { runs, next_cursor } = await runPage(db, owner, { ...request, limit, cursor: page.next_cursor });
    const read = runs.filter(({ run }) => !failedUncharged(run));
    left_out += runs.length - read.length;
    page.runs.push(...read);
    page.next_cursor = next_cursor;
  } while (page.runs.length < request.limit && page.next_cursor !== undefined);
  return { ...page, left_out: left_out === 0 ? undefined : left_out };
}

const listAnswer = ({ runs, next_cursor, left_out, roots }: ListedPage, { clock }: Pick<OperationDeps, "clock">) => ({
  success: true,
  // Excerpts of reports contain text from the web; the questions are the user's own.
  caution: runs.some(({ found = [] }) => found.length > 0) ? CAUTION : undefined,
  runs: runs.map(({ run, found }) => ({
    ...listRow(headOf(run, clock.now())),
    found: found?.map(({ text }) => text).join(""),
  })),
  next_cursor,
  left_out,
  roots: roots === undefined || roots.size === 0 ? undefined : Object.fromEntries(roots),
});

const listRow = (run: RunHead) => ({
  task_id: run.task_id,
  kind: run.kind,
  query: run.query,
  title: run.title,
  tags: run.tags,
  imported: run.imported,
  starred: run.starred,
  archived: run.archived,
  status: run.status,
  progress: run.progress,
  error_code: run.error_code,
  // Not a research that could be started again.
  follow_up: run.followup_context === undefined ? undefined : true,
  created_at: run.created_at,
  completed_at: run.completed_at,
  cost_usd: run.cost_usd,
  cost_incomplete: run.cost_incomplete,
  cost_estimated: run.cost_estimated,
});

interface FoundInList {
  run: Run;
  /** Excerpts with the words; absent when no words were given. */
  found?: FoundPiece[] | undefined;
}

interface ListedPage {
  runs: FoundInList[];
  next_cursor: string | undefined;
  /** Starts that failed and cost nothing, which a list for people only counts. */
  left_out?: number | undefined;
  /** The run that each follow-up or table belongs to, in a list for people. */
  roots?: ReadonlyMap<string, string> | undefined;
}

type ListRequest = Omit<z.output<typeof listInput>, "status"> &
  Partial<Pick<RunFilter, "status" | "starred" | "archived">>;

export async function runPage(db: Database, owner: string, request: ListRequest): Promise<ListedPage> {
  const { text = "", limit, cursor } = request;
  if (text.trim() !== "") return foundPage(db, owner, { ...request, text });
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const runs = await listRuns(db, { ...filterOf(request), owner, limit, before });
  const page = runs.slice(0, limit);
  const last = page.at(-1);
  return {
    runs: page.map((run) => ({ run })),
    next_cursor: runs.length > limit && last !== undefined ? writeCursor(last) : undefined,
  };
}

const filterOf = ({ status, kind, tag, starred, archived }: ListRequest) => ({ status, kind, tag, starred, archived });

/** One page of matches: runs with a matching report first, then runs without a report whose question matches. */
async function foundPage(db: Database, owner: string, request: ListRequest & { text: string }): Promise<ListedPage> {
  const { searchQuestions, searchReports, searchWords } = await import("../runs/history/search-store.ts");
  const { limit, cursor } = request;
  const seen = cursor === undefined ? { reports: 0, questions: 0 } : readFoundCursor(cursor);
  const search = { ...filterOf(request), owner, words: searchWords(request.text) };
  // One more than requested shows whether there is another page.
  const reports = await searchReports(db, { ...search, limit: limit + 1, skip: seen.reports });
  const room = limit + 1 - reports.length;
  const questions = room === 0 ? [] : await searchQuestions(db, { ...search, limit: room, skip: seen.questions });
  const page = [...reports, ...questions].slice(0, limit);
  const fromReports = Math.min(limit, reports.length);
  const next = { reports: seen.reports + fromReports, questions: seen.questions + page.length - fromReports };
  const excerpts = new Map(page.map(({ taskId, found }) => [taskId, found]));
  const runs = await findRuns(db, owner, [...excerpts.keys()]);
  return {
    runs: runs.map((run) => ({ run, found: excerpts.get(run.taskId) ?? [] })),
    next_cursor: reports.length + questions.length > limit ? writeFoundCursor(next) : undefined,
  };
}

/** The numbers of matches of a text; undefined without a text. */
export async function countMatches(db: Database, owner: string, { text = "", kind }: ListRequest) {
  if (text.trim() === "") return undefined;
  const { countFound, searchWords } = await import("../runs/history/search-store.ts");
  return countFound(db, { owner, kind, words: searchWords(text) });
}

const encode = (text: string): string => Buffer.from(text).toString("base64url");
const decode = (cursor: string): string[] => Buffer.from(cursor, "base64url").toString("utf8").split(" ");

const writeFoundCursor = ({ reports, questions }: { reports: number; questions: number }): string =>
  encode(`found ${reports} ${questions}`);

/** Bounds the cost of a page, which grows with the number of skipped rows. */
const MAX_SKIPPED_ROWS = 100_000;

function readFoundCursor(cursor: string): { reports: number; questions: number } {
  const [kind, ...counts] = decode(cursor);
  const [reports = -1, questions = -1] = counts.map(Number);
  const isCount = (count: number): boolean => Number.isInteger(count) && count >= 0 && count <= MAX_SKIPPED_ROWS;
  if (kind !== "found" || !isCount(reports) || !isCount(questions)) throw invalidCursor();
  return { reports, questions };
}

const writeCursor = (run: Run): string => encode(`${run.createdAt} ${run.taskId}`);

function readCursor(cursor: string): RunFilter["before"] {
  const [createdAt, taskId] = decode(cursor);
  const time = Number(createdAt);
  if (!Number.isSafeInteger(time) || taskId === undefined) throw invalidCursor();
  return { createdAt: time, taskId };
}

const invalidCursor = (): AppError =>
  invalidInput("The cursor is not valid.", { suggestion: "Leave it out to start at the first page.", field: "cursor" });
