/** Finds the run that a command names: by the first characters of its id, by words of its title, or as the newest. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import type { Operation, OperationDeps } from "../operations/operation.ts";
import { oneLine } from "../platform/clean-text.ts";
import { reportPresence } from "../runs/result-store.ts";
import { failedUncharged, type Run, UNFINISHED } from "../runs/run.ts";
import { findRuns, listRuns, type NamedRun, newestRuns, runsBeginningWith } from "../runs/run-store.ts";
import type { Database } from "../store/database.ts";
import { shell, shortId } from "./render/answer-view.ts";
import { formatAge } from "./render/durations.ts";
import { cutToWidth } from "./render/text-width.ts";

/** Describes the argument of a command that names a run. */
export const RUN_ARGUMENT = "the first characters of its id, words of its title, or last";
export const OPTIONAL_RUN = `${RUN_ARGUMENT}; default: the newest`;

const LAST = "last";
const OPEN: ReadonlySet<string> = new Set(UNFINISHED);
const SHORT_PREFIX = /^[0-9a-f]{1,3}$/;
const WHOLE_LENGTH = 36;
/** Shorter prefixes are soon ambiguous, and are words more often. */
const ID_PREFIX = /^[0-9a-f][0-9a-f-]{3,35}$/;
/** Older runs are found by `list` and named by their ids. */
const MAX_SEARCHED = 2_000;
const MAX_CANDIDATES = 10;
const MAX_TITLE_COLUMNS = 60;

export interface FoundRun {
  taskId: string;
  /** Which run it is, unless the user has typed its id. */
  remark?: string;
}

interface Wanted {
  owner: string;
  /** Undefined: the newest run. */
  name: string | undefined;
  /** The newest run that has not ended, if there is one, rather than the newest. */
  prefersUnfinished?: boolean;
  /** Which run is the newest: one with a text, or one of any kind, a start that failed and cost nothing included. */
  newest?: "with text" | "of any kind" | undefined;
}

/** Operations on the text of a run, and the one on what failed. */
const NEWEST: Readonly<Record<string, Wanted["newest"]>> = {
  save_report: "with text",
  verify_citations: "with text",
  compare_reports: "with text",
  ask_followup: "with text",
  resume_research: "of any kind",
};

type Deps = Pick<OperationDeps, "database" | "clock">;

/** Completes the run in the input of a command. */
export async function withRun(
  operation: Operation,
  deps: Deps,
  { input, ...wanted }: Omit<Wanted, "name"> & { input: Record<string, unknown> },
): Promise<{ input: Record<string, unknown>; remark?: string | undefined }> {
  const { task_id: name } = input;
  const { task_id: field } = operation.input.shape;
  if (field === undefined || (name !== undefined && typeof name !== "string")) return { input };
  // An operation that needs no run.
  if (name === undefined && z.safeParse(field, undefined).success) return { input };
  const { taskId, remark } = await findNamedRun(deps, { ...wanted, name, newest: NEWEST[operation.name] });
  return { input: { ...input, task_id: taskId }, remark };
}

/** Throws unless exactly one run has this name. A complete id is not looked up. */
export async function findNamedRun(deps: Deps, { name, ...wanted }: Wanted): Promise<FoundRun> {
  const { owner } = wanted;
  const given = (name ?? LAST).trim().toLowerCase();
  if (given.length === WHOLE_LENGTH && ID_PREFIX.test(given)) return { taskId: given };
  const db = await deps.database();
  const remarkOn = (run: Named): string =>
    `“${titleOf(run)}” (${shortId(run.taskId)}, ${agoText(deps.clock.now() - run.createdAt)})`;
  if (given === LAST) {
    const newest = (await newestUnfinished(db, wanted)) ?? (await newestRun(db, wanted));
    if (newest === undefined) throw wanted.newest === "with text" ? noReport() : noRuns();
    return { taskId: newest.taskId, remark: `Newest run: ${remarkOn(newest)}` };
  }
  const byId = ID_PREFIX.test(given) ? await runsBeginningWith(db, owner, given) : [];
  if (byId.length > 1) throw ambiguous(`More than one run id begins with ${given}.`, byId);
  if (byId[0] !== undefined) return { taskId: byId[0].taskId };
  const named = await worthNaming(db, owner, withWords(await newestRuns(db, owner, MAX_SEARCHED), given));
  const [only, ...others] = named;
  const shown = cutToWidth(oneLine(name ?? ""), 40);
  if (only === undefined) throw SHORT_PREFIX.test(given) ? tooShort(shown) : unknown(shown, ID_PREFIX.test(given));
  if (others.length > 0) throw ambiguous(`${named.length} runs have “${shown}” in their title.`, named);
  return { taskId: only.taskId, remark: `Run: ${remarkOn(only)}` };
}

type Named = Pick<Run, "taskId" | "query" | "createdAt"> & { title?: string | null | undefined };

async function newestUnfinished(db: Database, { owner, prefersUnfinished = false }: Omit<Wanted, "name">) {
  if (!prefersUnfinished) return undefined;
  return (await newestRuns(db, owner, MAX_SEARCHED)).find(({ status }) => OPEN.has(status));
}

const PAGE = 50;

/** A list of failed starts may be long: a machine that was offline for a day. */
async function newestRun(db: Database, { owner, newest }: Omit<Wanted, "name">): Promise<Run | undefined> {
  const all = { owner, status: undefined, kind: undefined, limit: PAGE };
  let before: { createdAt: number; taskId: string } | undefined;
  let first: Run | undefined;
  for (let read = 0; read < MAX_SEARCHED; read += PAGE) {
    const runs = (await listRuns(db, { ...all, before })).slice(0, PAGE);
    first ??= runs[0];
    if (newest === "of any kind") break;
    for (const run of runs) {
      if (failedUncharged(run)) continue;
      if (newest === undefined || (await reportPresence(db, run.taskId)) !== undefined) return run;
    }
    before = runs.at(-1);
    if (runs.length < PAGE) break;
  }
  return newest === "with text" ? undefined : first;
}

/** Without starts that failed and cost nothing, unless no other run has the name. */
async function worthNaming(db: Database, owner: string, named: NamedRun[]): Promise<NamedRun[]> {
  if (named.length < 2) return named;
  const failed = named.filter(({ status }) => status === "failed").map(({ taskId }) => taskId);
  const hidden = new Set((await findRuns(db, owner, failed)).filter(failedUncharged).map(({ taskId }) => taskId));
  const others = named.filter(({ taskId }) => !hidden.has(taskId));
  return others.length === 0 ? named : others;
}

/** Runs whose title has words that begin so, in any order; without such a run, those that have the text anywhere. */
function withWords(runs: readonly NamedRun[], given: string): NamedRun[] {
  const words = wordsOf(given);
  if (words.length === 0) return [];
  const begin = runs.filter((run) => {
    const own = wordsOf(titleOf(run));
    return words.every((word) => own.some((one) => one.startsWith(word)));
  });
  return begin.length > 0 ? begin : runs.filter((run) => titleOf(run).toLowerCase().includes(given));
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

const titleOf = ({ title, query }: Pick<Named, "title" | "query">): string =>
  cutToWidth(oneLine(title ?? query), MAX_TITLE_COLUMNS);

const agoText = (ms: number): string => (ms < 60_000 ? "just now" : `${formatAge(ms)} ago`);

const list = (): string => `To see your runs: ${shell("list")}`;

const noRuns = (): AppError =>
  new AppError({
    code: "TASK_NOT_FOUND",
    message: "There is no run yet.",
    suggestion: `Ask something first: ${shell("search …")}`,
  });

const noReport = (): AppError =>
  new AppError({
    code: "TASK_NOT_FOUND",
    message: "No run has a report yet.",
    suggestion: list(),
  });

function unknown(shown: string, isId: boolean): AppError {
  const details = { status: isId ? 404 : 400, field: "task_id" };
  const message = isId
    ? `There is no run whose id begins with ${shown}, or whose title has this word.`
    : `There is no run with “${shown}” in its title.`;
  return new AppError({ code: isId ? "TASK_NOT_FOUND" : "INVALID_TASK_ID", message, suggestion: list(), details });
}

const tooShort = (shown: string): AppError =>
  new AppError({
    code: "INVALID_TASK_ID",
    message: `There is no run with “${shown}” in its title, and an id needs at least 4 characters.`,
    suggestion: list(),
    details: { status: 400, field: "task_id" },
  });

function ambiguous(message: string, runs: readonly NamedRun[]): AppError {
  // Ids that begin alike are shown whole: each line can be typed.
  const areShort = new Set(runs.map(({ taskId }) => shortId(taskId))).size === runs.length;
  const idOf = ({ taskId }: NamedRun): string => (areShort ? shortId(taskId) : taskId);
  const lines = runs.slice(0, MAX_CANDIDATES).map((run) => `${idOf(run)}  ${titleOf(run)}`);
  const more = runs.length > MAX_CANDIDATES ? [`… and ${runs.length - MAX_CANDIDATES} more`] : [];
  const details = { status: 400, matches: [...lines, ...more].join("\n") };
  const suggestion = "Use more words, or the first characters of its id.";
  return new AppError({ code: "INVALID_TASK_ID", message, suggestion, details });
}
