/** SQL for finished rounds, and for results with their full-text index. */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sql, type Transaction } from "kysely";
import { z } from "zod";
import { cleanText } from "../platform/clean-text.ts";
import { isRedirect, type Source } from "../reports/report.ts";
import { compiledQuery } from "../store/compiled-query.ts";
import { type Database, storable, type Tables } from "../store/database.ts";
import { appendEvents } from "./event-store.ts";
import { lockRun, readColumns } from "./lock-store.ts";
import { dropPictures, findPictures, pictureFacts, savePictures } from "./file-store.ts";
import { costOfRun, RUN_COST } from "./ledger/ledger-store.ts";
import { anyRecord, readTags, storedJson } from "./run-row.ts";
import type { NewResult, SavedRound, StoredResult } from "./run.ts";
import { costFields } from "../costs/actual.ts";
import { insertSearchable } from "../store/dialect.ts";
import { besideReport, questionWithNames } from "../store/full-text.ts";

export const sourceList: z.ZodType<Source[]> = z.array(
  z.object({
    n: z.number(),
    title: z.string(),
    url: z.string(),
    resolved_url: z.string().optional(),
    domain: z.string(),
  }),
);
const citationList = z.array(z.object({ n: z.number(), start: z.number(), end: z.number() }));
const stringList = z.array(z.string());

const ROUND = "round";
const roundKey = (roundNumber: number): string => `${ROUND} ${roundNumber}`;

const storedRound: z.ZodType<SavedRound> = z.object({
  roundNumber: z.number(),
  report: z.string(),
  verified: z.boolean(),
  summary: z.string(),
  sources: sourceList,
  queries: stringList,
  metadata: anyRecord,
});

/** A finished round is an event of its search. */
export async function saveRound(
  db: Database,
  taskId: string,
  { now, ...given }: SavedRound & { now: number },
): Promise<void> {
  const round = { ...given, report: cleanText(given.report) };
  const { roundNumber, verified, summary } = round;
  const text = `Round ${roundNumber}, ${verified ? "verified" : "not verified"}. ${summary}`.trim();
  await appendEvents(db, taskId, [{ kind: ROUND, text, at: now, eventKey: roundKey(roundNumber), round }]);
}

export interface SavedResult {
  taskId: string;
  query: string;
  result: NewResult;
  /** The response from Google as JSON, compressed. */
  raw?: Uint8Array | undefined;
  /** False for a plan: its research is found instead. */
  isSearched?: boolean;
  now: number;
}

/** Runs in the transaction that finishes the run. A report that arrives late replaces a partial one. */
export async function saveResult(
  transaction: Transaction<Tables>,
  { taskId, query, result, raw, isSearched = true, now }: SavedResult,
): Promise<void> {
  const values = { ...textColumns(result), raw: raw ?? null, partial: result.partial ? 1 : 0, saved_at: now } as const;
  await dropFromSearch(transaction, taskId);
  const searched = { taskId, query, report: values.report_markdown, sources: result.sources };
  const search_rowid = isSearched ? await addToSearch(transaction, searched) : null;
  await transaction
    .insertInto("research_results")
    .values({ task_id: taskId, ...values, search_rowid })
    .onConflict((conflict) => conflict.column("task_id").doUpdateSet({ ...values, search_rowid }))
    .execute();
  await savePictures(transaction, taskId, result.pictures ?? []);
}

/** Google sends some dozen; more are not worth their bytes. */
const MAX_SUPPORTS = 2_000;
const supportList = z.array(z.object({ text: z.string(), urls: z.array(z.string()) }));

const supportsJson = (supports: NewResult["supports"] = []): string | null =>
  supports.length === 0 ? null : storable(JSON.stringify(supports.slice(0, MAX_SUPPORTS)));

const storedSupports = (json: string | null): Pick<NewResult, "supports"> =>
  json === null ? {} : { supports: storedJson(json, supportList) };

/** Stored with the report, so that a status read need not read it. */
export const hasText = (report: string): 0 | 1 => (report.trim() === "" ? 0 : 1);

const reportColumns = (report: string) => ({ report_markdown: report, has_text: hasText(report) });

const textColumns = (result: NewResult) => ({
  ...reportColumns(storable(cleanText(result.report))),
  sources_json: storable(JSON.stringify(result.sources)),
  citations_json: JSON.stringify(result.citations ?? []),
  metadata_json: storable(JSON.stringify(result.metadata)),
  supports_json: supportsJson(result.supports),
  suggestions: compressSuggestions(result.searchSuggestions),
});

/** Compressed, because every suggestion repeats the same style sheet. */
const compressSuggestions = (suggestions: readonly string[] = []): Uint8Array | null =>
  suggestions.length === 0 ? null : deflateRawSync(storable(JSON.stringify(suggestions)));

const MAX_SUGGESTION_BYTES = 8_000_000;

const decompressSuggestions = (suggestions: Uint8Array | null): string[] =>
  suggestions === null
    ? []
    : stringList.parse(JSON.parse(inflateRawSync(suggestions, { maxOutputLength: MAX_SUGGESTION_BYTES }).toString()));

const resultOf = compiledQuery((db, { taskId }: { taskId: string }) =>
  db
    .selectFrom("research_results")
    .select(["report_markdown", "sources_json", "citations_json", "metadata_json"])
    .select(["partial", "suggestions", "supports_json"])
    .where("task_id", "=", taskId),
);

export async function findResult(db: Database, taskId: string): Promise<StoredResult | undefined> {
  const [row] = await resultOf(db, { taskId });
  if (row === undefined) return undefined;
  return {
    report: row.report_markdown,
    sources: storedJson(row.sources_json, sourceList),
    citations: storedJson(row.citations_json, citationList),
    metadata: storedJson(row.metadata_json, anyRecord),
    partial: row.partial === 1,
    pictures: await pictureFacts(db, taskId),
    searchSuggestions: decompressSuggestions(row.suggestions),
    ...storedSupports(row.supports_json),
  };
}

const claimed = (db: Database, taskId: string, reportHash: string | undefined) =>
  db
    .selectFrom("research_results")
    .where("task_id", "=", taskId)
    .where("claims_json", "is not", null)
    .$if(reportHash !== undefined, (query) => query.where("report_hash", "=", reportHash ?? ""));

/** The claims that the report with this hash was split into; undefined if it was not, or another report was. */
export async function readClaimsJson(db: Database, taskId: string, reportHash: string): Promise<string | undefined> {
  return (await claimed(db, taskId, reportHash).select("claims_json").executeTakeFirst())?.claims_json ?? undefined;
}

/** Whether a report was split into claims: any report of the run, or the one with this hash. */
export const hasClaims = async (db: Database, taskId: string, reportHash?: string): Promise<boolean> =>
  (await claimed(db, taskId, reportHash).select("task_id").executeTakeFirst()) !== undefined;

export async function saveClaimsJson(
  db: Database,
  { taskId, reportHash, json }: { taskId: string; reportHash: string; json: string },
): Promise<void> {
  await db
    .updateTable("research_results")
    .set({ claims_json: storable(json), report_hash: reportHash })
    .where("task_id", "=", taskId)
    .execute();
}

const linkList = z.array(z.looseObject({ url: z.string(), resolved_url: z.string().optional() }));

interface ReportPresence {
  partial: boolean;
  /** Redirect links whose target was looked up and not found. */
  unresolvedLinks?: number;
}

const presenceOf = compiledQuery((db, { taskId }: { taskId: string }) =>
  db
    .selectFrom("research_results")
    .innerJoin("research_tasks", "research_tasks.task_id", "research_results.task_id")
    .select(["partial", "links_resolved_at"])
    .where("research_results.task_id", "=", taskId)
    .where("part", "!=", "plan")
    .where("has_text", "=", 1),
);

const sourcesOf = compiledQuery((db, { taskId }: { taskId: string }) =>
  db.selectFrom("research_results").select("sources_json").where("task_id", "=", taskId),
);

const firstRoundOf = compiledQuery((db, { taskId }: { taskId: string }) =>
  roundsOf(db, taskId).select("seq").where("event_key", "=", roundKey(1)),
);

/**
 * Whether a finished run has text, complete or partial, without reading it. Finished rounds count as partial; a plan is
 * no report.
 */
export async function reportPresence(db: Database, taskId: string): Promise<ReportPresence | undefined> {
  const [result] = await presenceOf(db, { taskId });
  if (result === undefined) return (await firstRoundOf(db, { taskId })).length === 0 ? undefined : { partial: true };
  const partial = result.partial === 1;
  if (result.links_resolved_at === null) return { partial };
  const sources = (await sourcesOf(db, { taskId })).flatMap((row) => storedJson(row.sources_json, linkList));
  const unresolved = sources.filter(({ url, resolved_url: found }) => found === undefined && isRedirect(url));
  return { partial, unresolvedLinks: unresolved.length };
}

export interface StoredRound extends SavedRound {
  completedAt: number;
}

/** A continued search has the rounds of the earlier one, too. */
export async function findRounds(db: Database, taskId: string): Promise<StoredRound[]> {
  const rows = await roundsOf(db, taskId).select(["data_json", "at"]).orderBy("seq").execute();
  const stored = z.object({ round: storedRound });
  return rows.map(({ data_json, at }) => ({ ...storedJson(data_json, stored).round, completedAt: at }));
}

const roundsOf = (db: Database, taskId: string) =>
  db.selectFrom("research_events").where("task_id", "=", taskId).where("kind", "=", ROUND);

/** The searches of a local run, which are stored with its rounds or its result; in the order in which they were made. */
export async function storedQueries(db: Database, taskId: string): Promise<{ at: number; text: string }[]> {
  const rounds = await findRounds(db, taskId);
  if (rounds.length > 0) return rounds.flatMap(({ queries, completedAt: at }) => queries.map((text) => ({ at, text })));
  const result = await db
    .selectFrom("research_results")
    .select(["metadata_json", "saved_at"])
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  if (result === undefined) return [];
  const { search_queries_used: used } = storedJson(result.metadata_json, anyRecord);
  const queries = stringList.safeParse(used);
  return queries.success ? queries.data.map((text) => ({ at: result.saved_at, text })) : [];
}

/** Writes of a poll of another interaction are rejected. */
interface Poll {
  taskId: string;
  interactionId: string;
}

/** Whether the poll is the newest one and partial text may be kept. The caller holds the lock on the run. */
export async function mayKeepText(transaction: Database, { taskId, interactionId }: Poll): Promise<boolean> {
  const run = await transaction
    .selectFrom("research_tasks")
    .select("task_id")
    .where("task_id", "=", taskId)
    .where("interaction_id", "=", interactionId)
    .where("status", "in", ["running_async", "failed", "cancelled"])
    .where((where) => where.or([where("cancel_requested_at", "is", null), where("keep_partial", "=", 1)]))
    .executeTakeFirst();
  return run !== undefined;
}

/** Stores the text of an unfinished run. A shorter text does not replace a longer one, because both were paid for. */
export async function savePartial(
  db: Database,
  poll: Poll,
  { result, now }: { result: NewResult; now: number },
): Promise<void> {
  const { taskId } = poll;
  const values = { ...textColumns(result), partial: 1, saved_at: now } as const;
  await db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    if (!(await mayKeepText(transaction, poll))) return;
    const saved = await transaction
      .insertInto("research_results")
      .values({ task_id: taskId, ...values })
      .onConflict((conflict) =>
        conflict
          .column("task_id")
          .doUpdateSet(values)
          .where("research_results.partial", "=", 1)
          .where(sql<boolean>`length(research_results.report_markdown) <= length(excluded.report_markdown)`),
      )
      .returning("task_id")
      .executeTakeFirst();
    if (saved !== undefined && (await havePicturesChanged(transaction, taskId, result.pictures))) {
      await savePictures(transaction, taskId, result.pictures ?? []);
    }
  });
}

/** Avoids rewriting the same pictures at every poll of a run. */
async function havePicturesChanged(
  db: Database,
  taskId: string,
  pictures: NewResult["pictures"] = [],
): Promise<boolean> {
  const marks = (list: readonly { hash: string; offset: number }[]): string =>
    list.map(({ hash, offset }) => `${hash} ${offset}`).join();
  return marks(pictures) !== marks(await pictureFacts(db, taskId));
}

/** Gives the text of a run to the run that it belongs to, unless that has one. The next poll of that run completes it. */
export async function moveResult(
  transaction: Transaction<Tables>,
  { from, to, now }: { from: string; to: string; now: number },
): Promise<void> {
  const result = await findResult(transaction, from);
  const run = await readColumns(transaction, to, ["query", "part"]);
  if (result !== undefined && run !== undefined && (await findResult(transaction, to)) === undefined) {
    const moved = { ...result, pictures: await findPictures(transaction, from), partial: true };
    const { query, part } = run;
    await saveResult(transaction, { taskId: to, query, result: moved, isSearched: part !== "plan", now });
  }
  await dropResult(transaction, from);
}

/** Deletes the text of a cancelled run whose caller asked to keep nothing. */
export async function dropResult(db: Database, taskId: string): Promise<void> {
  await dropFromSearch(db, taskId);
  await db.deleteFrom("research_results").where("task_id", "=", taskId).execute();
  await dropPictures(db, taskId);
  await db.deleteFrom("research_events").where("task_id", "=", taskId).where("kind", "=", ROUND).execute();
}

/** The tokens, the cost and the duration of a run, stored with its report, so that copies of it include them (P6). */
export async function recordFigures(db: Database, taskId: string): Promise<void> {
  const row = await db
    .selectFrom("research_results")
    .innerJoin("research_tasks", "research_tasks.task_id", "research_results.task_id")
    .select(["metadata_json", "created_at", "started_at", "completed_at", "tokens_input", "tokens_output"])
    .select(RUN_COST)
    .where("research_results.task_id", "=", taskId)
    .executeTakeFirst();
  if (row === undefined) return;
  const figures = {
    duration_ms: (row.completed_at ?? row.created_at) - (row.started_at ?? row.created_at),
    tokens_used: { input: row.tokens_input, output: row.tokens_output },
    ...costFields(costOfRun(row)),
  };
  await db
    .updateTable("research_results")
    .set({ metadata_json: JSON.stringify({ ...storedJson(row.metadata_json, anyRecord), ...figures }) })
    .where("task_id", "=", taskId)
    .execute();
}

/** Returns the row of the index. Call it after the update that ends the run: no title given in the meantime is missed. */
export async function addToSearch(
  transaction: Database,
  { taskId, query, report, sources }: { taskId: string; query: string; report: string; sources: readonly Source[] },
): Promise<number> {
  const texts = { task_id: taskId, report, ...(await searchTexts(transaction, { taskId, query, sources })) };
  return insertSearchable(transaction, transaction.insertInto("research_search").values(texts));
}

async function searchTexts(
  db: Database,
  { taskId, query, sources }: { taskId: string; query: string; sources: readonly Source[] },
) {
  const row = db.selectFrom("research_tasks").select(["title", "tags", "note"]).where("task_id", "=", taskId);
  const { title = null, tags = null, note = null } = (await row.executeTakeFirst()) ?? {};
  const names = [title ?? undefined, readTags(tags).join(" ")];
  return { query: questionWithNames(query, names), beside: besideReport(note, sources) };
}

/** After a change of title, tags, note or sources. Nothing to do without a report, with which they are indexed. */
export async function updateSearch(transaction: Database, taskId: string): Promise<void> {
  const row = await transaction
    .selectFrom("research_results")
    .innerJoin("research_tasks", "research_tasks.task_id", "research_results.task_id")
    .select(["query", "sources_json", "search_rowid"])
    .where("research_results.task_id", "=", taskId)
    .where("search_rowid", "is not", null)
    .executeTakeFirst();
  if (row === undefined) return;
  const { query, sources_json: json, search_rowid: rowid } = row;
  await transaction
    .updateTable("research_search")
    .set(await searchTexts(transaction, { taskId, query, sources: storedJson(json, sourceList) }))
    .where("rowid", "=", rowid)
    .execute();
}

/** Deletes by rowid: task_id is not indexed in the full-text table. */
async function dropFromSearch(db: Database, taskId: string): Promise<void> {
  await db
    .deleteFrom("research_search")
    .where("rowid", "=", (found) =>
      found.selectFrom("research_results").select("search_rowid").where("task_id", "=", taskId),
    )
    .execute();
}
