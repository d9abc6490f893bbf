/** The pair of tools that ChatGPT expects of a server; `search` takes the place of the tool with that name. */

import { hash } from "node:crypto";
import { z } from "zod";
import { type AppError, invalidInput } from "../errors.ts";
import { cancelled } from "../gemini/failures.ts";
import { oneLine } from "../platform/clean-text.ts";
import { sectionsOf } from "../reports/sections.ts";
import { readStored, type StoredRun } from "../runs/history/read.ts";
import type { Run, RunResult } from "../runs/run.ts";
import { listRuns } from "../runs/run-store.ts";
import type { Database } from "../store/database.ts";
import { runExclusively } from "../store/slots.ts";
import { runPage } from "./list-research.ts";
import { type Call, CAUTION, defineOperation, type Operation, type OperationDeps, queryField } from "./operation.ts";
import { runSearch } from "./search.ts";
import { isoTime } from "../platform/clock.ts";
import { withExpiry } from "../reports/link-expiry.ts";
import { DEFAULT_LIMIT, readReport, withUrlsOnce } from "./reading/report-reading.ts";
import { list, sourceLine } from "./parts/answer-text.ts";

interface Item {
  taskId: string;
  /** As in the outline of the report. */
  section?: string | undefined;
  source?: number | undefined;
}

const FORMAT = /^([0-9a-f-]{36})(?:\/section\/([\d.~+]{1,40})|\/source\/([1-9]\d{0,4}))?$/;

function itemId({ taskId, section, source }: Item): string {
  if (section !== undefined) return `${taskId}/section/${section}`;
  return source === undefined ? taskId : `${taskId}/source/${source}`;
}

function parseItemId(id: string): Item | undefined {
  const [, taskId, section, source] = FORMAT.exec(id) ?? [];
  if (taskId === undefined) return undefined;
  return { taskId, section, source: source === undefined ? undefined : Number(source) };
}

/** The run on the page. ChatGPT cites only what has an address. */
const runAddress = (publicUrl: string, taskId: string): string => `${publicUrl.replace(/\/+$/, "")}/runs/${taskId}`;

const MAX_RUNS = 10;
const MAX_SECTIONS_PER_RUN = 2;
const MAX_SOURCES = 10;
/** The same question within this time is not asked and paid for again. */
const SAME_QUESTION_MS = 10 * 60_000;
const MAX_COMPARED = 20;
const MAX_TITLE_CHARACTERS = 160;

interface FoundItem {
  id: string;
  title: string;
  url: string;
}

export const chatgptSearch = defineOperation({
  name: "search",
  title: "Search",
  description:
    "Searches the web through Google Gemini and the user's own research reports. Returns ids for fetch. Takes seconds, costs about a cent.",
  input: z.strictObject({ query: queryField("query").describe("The question, as precisely as possible.") }),
  // Not required: clients check errors against it, too.
  output: z.looseObject({
    results: z.array(z.looseObject({ id: z.string(), title: z.string(), url: z.string() })).optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  run: async (deps, { query }, call) => {
    const own = await ownReports(deps, call, query);
    const fresh = await freshAnswer(deps, call, query).catch((error: unknown) => {
      // What the user already has is better than an error.
      if (own.length === 0 || call.signal.aborted) throw error;
      return [];
    });
    const known = new Set(fresh.map(({ id }) => id));
    return { results: [...fresh, ...own.filter(({ id }) => !known.has(id))] };
  },
  toText: (output) => JSON.stringify(output),
});

const titleOf = ({ title, query }: Pick<Run, "title" | "query">): string => {
  const characters = Array.from(oneLine(title ?? query));
  return characters.length <= MAX_TITLE_CHARACTERS
    ? characters.join("")
    : `${characters.slice(0, MAX_TITLE_CHARACTERS).join("")}…`;
};

/** The answer, and the pages that it is based on. */
async function freshAnswer(deps: OperationDeps, call: Call, query: string): Promise<FoundItem[]> {
  const { run, result } = await answeredOnce(deps, call, query);
  const { taskId } = run;
  const sources = (result?.sources ?? []).slice(0, MAX_SOURCES).map(({ n, title, domain, url, resolved_url }) => ({
    id: itemId({ taskId, source: n }),
    title: oneLine(title === "" ? domain : title),
    url: resolved_url ?? url,
  }));
  const item = { id: itemId({ taskId }), title: titleOf(run), url: runAddress(deps.settings.publicUrl, taskId) };
  return [item, ...sources.filter(({ url }) => /^https?:/.test(url))];
}

/** A call with a question that is being answered waits, and then finds the answer. */
async function answeredOnce(deps: OperationDeps, call: Call, query: string): Promise<StoredRun> {
  const { db, clock, log, processId } = await deps.recorder();
  const question = hash("sha256", JSON.stringify([call.owner, query]));
  const options = {
    db,
    clock,
    log,
    processId,
    pool: `chatgpt:${question}`,
    signal: AbortSignal.any([call.signal, deps.leaving]),
    withoutStore: "The same question may be asked and paid for twice",
  };
  const ask = async (): Promise<StoredRun> => (await recentAnswer(deps, call, query)) ?? answer(deps, call, query);
  try {
    return await runExclusively(options, ask);
  } catch (error) {
    throw options.signal.aborted ? cancelled() : error;
  }
}

/** The run that answered the same question minutes ago. Wishes of another call restrict its answer. */
async function recentAnswer(deps: OperationDeps, { owner }: Call, query: string): Promise<StoredRun | undefined> {
  const filter = { owner, status: "completed", kind: "search", before: undefined, limit: MAX_COMPARED } as const;
  const since = deps.clock.now() - SAME_QUESTION_MS;
  const db = await deps.database();
  const kept = [...lastAnswers.values()].map(({ run }) => run).filter((run) => run.owner === owner);
  const runs = [...kept, ...(await listRuns(db, filter))];
  const isSame = ({ query: asked, options }: Run): boolean => asked === query && options["wishes"] === undefined;
  const same = runs.find((run) => isSame(run) && (run.completedAt ?? run.createdAt) >= since);
  return same && readAnswer(db, owner, same.taskId);
}

async function answer(deps: OperationDeps, call: Call, query: string): Promise<StoredRun> {
  const obstacle = await deps.searchObstacle();
  if (obstacle !== undefined) throw obstacle;
  const finished = await runSearch(deps, { query }, call);
  lastAnswers.set(finished.run.taskId, finished);
  const [oldest = ""] = lastAnswers.keys();
  if (lastAnswers.size > MAX_KEPT_ANSWERS) lastAnswers.delete(oldest);
  return finished;
}

/** Answers that were paid for and that the database may have refused: ChatGPT reads them in a second call. */
const lastAnswers = new Map<string, StoredRun>();
const MAX_KEPT_ANSWERS = 20;

async function readAnswer(db: Database, owner: string, taskId: string): Promise<StoredRun> {
  const kept = lastAnswers.get(taskId);
  const stored = await readStored(db, owner, taskId).catch((error: unknown) => {
    if (kept?.run.owner !== owner) throw error;
    return kept;
  });
  return stored.result === undefined && kept?.run.owner === owner ? kept : stored;
}

/** Earlier reports with the words of the question, each with the sections whose titles have most of them. */
async function ownReports(deps: OperationDeps, { owner }: Call, query: string): Promise<FoundItem[]> {
  const db = await deps.database();
  const { runs } = await runPage(db, owner, { text: query.slice(0, 1_000), limit: MAX_RUNS, status: "completed" });
  const items: FoundItem[] = [];
  for (const { run } of runs) {
    const url = runAddress(deps.settings.publicUrl, run.taskId);
    const title = titleOf(run);
    items.push({ id: itemId({ taskId: run.taskId }), title, url });
    const { result } = await readStored(db, owner, run.taskId);
    for (const { section, title: heading } of bestSections(result?.report ?? "", query)) {
      items.push({ id: itemId({ taskId: run.taskId, section }), title: `${title} – ${heading}`, url });
    }
  }
  return items;
}

function bestSections(report: string, query: string): { section: string; title: string }[] {
  const words = query.toLocaleLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const score = (title: string): number => words.filter((word) => title.toLocaleLowerCase().includes(word)).length;
  return sectionsOf(report)
    .map(({ section, title }) => ({ section, title, score: score(title) }))
    .filter((each) => each.score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_SECTIONS_PER_RUN);
}

const unknownItem = (): AppError =>
  invalidInput("There is no item with this id.", { suggestion: "Use an id that search returned.", field: "id" });

const MAX_PASSAGES = 20;

export const chatgptFetch = defineOperation({
  name: "fetch",
  title: "Fetch",
  description: "Returns the full text of an item that search found. Free, instant, local.",
  input: z.strictObject({
    id: z
      .string({ error: "{id} must be a string." })
      .trim()
      .min(1, { error: "{id} must not be empty." })
      .max(100, { error: "There is no item with this id." })
      .describe("An id that search returned."),
  }),
  output: z.looseObject({
    id: z.string().optional(),
    title: z.string().optional(),
    text: z.string().optional(),
    url: z.string().optional(),
    metadata: z.looseObject({}).optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "id",
  run: async (deps, { id }, { owner }) => {
    const item = parseItemId(id);
    if (item === undefined) throw unknownItem();
    const { run, result } = await readAnswer(await deps.database(), owner, item.taskId);
    if (result === undefined) throw unknownItem();
    const metadata = metadataOf(run, result);
    if (item.source !== undefined) return { id, ...(await sourceItem(result, item.source)), metadata };
    return { id, ...(await reportItem(deps.settings, { run, result, section: item.section })), metadata };
  },
  toText: (output) => JSON.stringify(output),
});

/** Texts only: a client may show or index them as they are. */
const metadataOf = (run: Run, { sources, partial }: RunResult): Record<string, string> => ({
  caution: CAUTION,
  question: run.query,
  kind: run.kind,
  status: run.status,
  created_at: isoTime(run.createdAt),
  sources: String(sources.length),
  ...(partial ? { partial: "true" } : {}),
});

interface Report {
  run: Run;
  result: RunResult;
  section: string | undefined;
}

/** A report that is too long for one answer comes as its opening, with the ids of its sections. */
async function reportItem({ publicUrl }: OperationDeps["settings"], { run, result, section }: Report) {
  const sourced = { ...result, sources: withExpiry(result.sources, run.completedAt ?? run.updatedAt) };
  const numbered = await withUrlsOnce(sourced);
  const reading = readReport(numbered, { section, maxCharacters: DEFAULT_LIMIT.max });
  const { report = "", outline = [], sources, next_section: next } = reading;
  const sections = outline.map((entry) => `${itemId({ taskId: run.taskId, section: entry.section })} ${entry.title}`);
  const continued = section !== undefined && next !== undefined ? [itemId({ taskId: run.taskId, section: next })] : [];
  const text = [
    report,
    ...list("Sources", sources.map(sourceLine)),
    ...list("Sections, by the ids to fetch", sections),
    ...list("Continued, by the id to fetch", continued),
  ].join("\n\n");
  return { title: run.title ?? run.query, text, url: runAddress(publicUrl, run.taskId) };
}

/** The page itself is not stored: its item has what the report says on its authority. */
async function sourceItem(result: RunResult, n: number) {
  const source = result.sources.find((one) => one.n === n);
  if (source === undefined) throw unknownItem();
  const passages = (await passagesCiting(result, n)).slice(0, MAX_PASSAGES);
  const text =
    passages.length === 0 ? "The report names this page without citing it in its text." : passages.join("\n\n");
  const { title, domain, url, resolved_url } = source;
  return { title: title === "" ? domain : title, text, url: resolved_url ?? url };
}

async function passagesCiting({ report, sources, citations = [] }: RunResult, n: number): Promise<string[]> {
  if (citations.length > 0) {
    const cited = citations.filter((citation) => citation.n === n);
    return [...new Set(cited.map(({ start, end }) => report.slice(start, end).trim()))];
  }
  const { citeByNumber } = await import("../reports/document/numbered.ts");
  return citeByNumber(report, sources)
    .report.split(/\n{2,}/)
    .filter((paragraph) => paragraph.includes(`[${n}]`));
}

export const CHATGPT_OPERATIONS: readonly Operation[] = [chatgptSearch, chatgptFetch];
