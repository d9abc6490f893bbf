/**
 * SQL for ended runs as records of an archive, and back. A record is JSON for any program, in the names of the columns,
 * with times in ISO 8601; docs/files.md documents it. One schema writes and reads it. Costs come back as information: a
 * ledger row that is released counts in no budget. Nothing that comes back is polled, sent or checked unasked.
 */

import { randomUUID } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { cleanText } from "../../platform/clean-text.ts";
import { COST_KINDS } from "../../costs/kinds.ts";
import type { Picture } from "../../reports/pictures/picture.ts";
import { type Database, storable } from "../../store/database.ts";
import { isNotCarriedOn, lineOf, PLAN_EXPIRED } from "../conversation-store.ts";
import { pictureFacts, savePictures } from "../file-store.ts";
import { dayNumber } from "../ledger/ledger-store.ts";
import { addToSearch, hasText, sourceList } from "../result-store.ts";
import { anyRecord, readTags, storedTags } from "../run-row.ts";
import { parseOptions } from "../start/start-options.ts";
import { errorColumns, transition } from "../transition-store.ts";
import { flag, json, longText, rowsOf, text, time, whole } from "./record-fields.ts";
import { FINISHED, FOLLOWUP_CONTEXTS, RUN_KINDS, RUN_PARTS } from "../run.ts";

const tags = z.codec(z.array(z.string()), z.string().nullable(), {
  decode: (given) => storedTags(given.flatMap((tag) => cleanText(tag).split(/[\s,]+/)).filter((tag) => tag !== "")),
  encode: readTags,
});
const MAX_SUGGESTION_BYTES = 8_000_000;
const compressed = z.codec(
  z.array(z.string()),
  z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  {
    decode: (given) => deflateRawSync(storable(JSON.stringify(given))),
    encode: (own) =>
      z.array(z.string()).parse(JSON.parse(inflateRawSync(own, { maxOutputLength: MAX_SUGGESTION_BYTES }).toString())),
  },
);
const runRecord = z.object({
  task_id: z.guid().toLowerCase(),
  kind: z.enum(RUN_KINDS),
  part: z.enum(RUN_PARTS),
  query: text,
  title: text.nullable(),
  tags,
  note: text.nullable(),
  starred: flag,
  archived: flag,
  status: z.enum(FINISHED),
  progress: whole.min(0).max(100),
  has_warning: flag,
  mode: z.enum(["sync", "async"]).nullable(),
  backend: text.nullable(),
  model: text.nullable(),
  options: json(anyRecord),
  estimate: json(anyRecord).nullable(),
  client: text.nullable(),
  parent_task_id: z.guid().toLowerCase().nullable(),
  followup_context: z.enum(FOLLOWUP_CONTEXTS).nullable(),
  carries_on: z.guid().toLowerCase().nullable(),
  gave_way: flag,
  enable_notifications: flag,
  created_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
  deadline_at: time.nullable(),
  last_event_at: time.nullable(),
  cancel_requested_at: time.nullable(),
  cancel_confirmed: flag.nullable(),
  keep_partial: flag,
  tokens_input: z.int(),
  tokens_output: z.int(),
  searches: z.int().nullable(),
  usage_final: flag,
  error_code: z
    .string()
    .regex(/^[A-Z_]{3,40}$/)
    .nullable(),
});

const resultRecord = z.object({
  report: longText,
  sources: json(sourceList),
  citations: json(z.array(z.object({ n: whole, start: whole, end: whole }))),
  metadata: json(anyRecord),
  supports: json(z.array(z.object({ text: z.string(), urls: z.array(z.string()) }))).nullable(),
  search_suggestions: compressed.nullable(),
  partial: flag,
  saved_at: time,
  links_resolved_at: time.nullable(),
  claims: json(z.array(anyRecord)).nullable(),
  report_hash: z.string().nullable(),
});

const eventData = z.looseObject({ text: z.string() });

export const archivedRun = z.object({
  run: runRecord,
  result: resultRecord.nullable(),
  /** Their contents are files of the archive. */
  pictures: rowsOf(z.object({ n: whole, file: z.string(), offset: whole }), ({ n }) => n),
  events: rowsOf(
    z.object({ seq: whole, at: time, kind: text, event_key: text.nullable(), data: json(eventData) }),
    ({ seq }) => seq,
  ).refine((events) => {
    const keys = events.flatMap(({ event_key: key }) => key ?? []);
    return new Set(keys).size === keys.length;
  }),
  costs: z.array(
    z.object({
      kind: z.enum(COST_KINDS),
      model: text.nullable(),
      created_at: time,
      settled_at: time.nullable(),
      cost_micros: z.int().min(0),
      incomplete: flag,
      estimated: flag,
    }),
  ),
});

type ArchivedRows = z.output<typeof archivedRun>;
export type ArchivedRun = z.input<typeof archivedRun>;

/** A run that has ended, with its result; a plan, once its research has taken its place. */
const ended = (db: Database, owner: string) =>
  db
    .selectFrom("research_tasks")
    .where("owner", "=", owner)
    .where("status", "in", FINISHED)
    .where((run) =>
      run.or([run("part", "!=", "plan"), run("status", "!=", "completed"), run.not(isNotCarriedOn(run))]),
    );

const RUNS_PER_PAGE = 500;

/** The ids of all runs that can be exported, the oldest first, so that each follows what it continues. */
export async function* endedRuns(db: Database, owner: string): AsyncGenerator<string> {
  for (let after = { created_at: -1, task_id: "" }; ;) {
    const page = await ended(db, owner)
      .select(["task_id", "created_at"])
      .where((run) => run(run.refTuple("created_at", "task_id"), ">", run.tuple(after.created_at, after.task_id)))
      .orderBy("created_at")
      .orderBy("task_id")
      .limit(RUNS_PER_PAGE)
      .execute();
    for (const { task_id } of page) yield task_id;
    const last = page.at(-1);
    if (last === undefined || page.length < RUNS_PER_PAGE) return;
    after = last;
  }
}

/** The ids of these runs and of those in whose place they are, the oldest first, as far as they can be exported. */
export async function endedLines(db: Database, owner: string, taskIds: readonly string[]): Promise<string[]> {
  const lines = new Map<string, number>();
  for (const taskId of taskIds)
    for (const { task_id, created_at } of await lineOf(db, taskId)) lines.set(task_id, created_at);
  const oldestFirst = [...lines].toSorted(([, one], [, other]) => one - other).map(([taskId]) => taskId);
  const known: string[] = [];
  for (const taskId of oldestFirst)
    if ((await ended(db, owner).select("task_id").where("task_id", "=", taskId).executeTakeFirst()) !== undefined)
      known.push(taskId);
  return known;
}

/** The record of a run; undefined if it was deleted meanwhile. */
export async function readArchived(
  db: Database,
  taskId: string,
  fileOf: (picture: Omit<Picture, "content">) => string,
): Promise<ArchivedRun | undefined> {
  const run = await db
    .selectFrom("research_tasks")
    .selectAll()
    .select(["options_json as options", "estimate_json as estimate"])
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  if (run === undefined) return undefined;
  const result = await db
    .selectFrom("research_results")
    .select(["report_markdown as report", "sources_json as sources", "citations_json as citations"])
    .select(["metadata_json as metadata", "supports_json as supports", "suggestions as search_suggestions"])
    .select(["partial", "saved_at", "links_resolved_at", "claims_json as claims", "report_hash"])
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  const events = db.selectFrom("research_events").select(["seq", "at", "kind", "event_key", "data_json as data"]);
  const costs = db
    .selectFrom("ledger")
    .select(["kind", "model", "created_at", "settled_at", "incomplete", "estimated"])
    .select((row) => row.ref("cost_micros").$notNull().as("cost_micros"))
    .where("cost_micros", "is not", null);
  const rows = {
    run,
    result: result ?? null,
    pictures: (await pictureFacts(db, taskId)).map((picture) => ({ ...picture, file: fileOf(picture) })),
    events: await events.where("task_id", "=", taskId).orderBy("seq").execute(),
    costs: await costs.where("task_id", "=", taskId).orderBy("created_at").orderBy("cost_micros").execute(),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema checks it
  return z.encode(archivedRun, rows as unknown as ArchivedRows);
}

export interface Restored {
  owner: string;
  rows: ArchivedRows;
  pictures: readonly Picture[];
  now: number;
  /** The runs that this archive has added so far. */
  added: ReadonlySet<string>;
}

/** A message of the archive would speak in our voice. */
const FAILED_BEFORE = "It failed before it was exported.";

/** Returns false if there is a run with this id, which then stays as it is. Runs in the caller's transaction. */
export async function restoreRun(
  transaction: Database,
  { owner, rows, pictures, now, added }: Restored,
): Promise<boolean> {
  const { run, result, events, costs } = rows;
  const { options: options_json, estimate: estimate_json, task_id, ...columns } = run;
  const related = await relations(transaction, { owner, run, added });
  const inserted = await transaction
    .insertInto("research_tasks")
    .values({
      ...columns,
      ...related,
      ...errorColumns(run.error_code === null ? undefined : { code: run.error_code, message: FAILED_BEFORE }),
      // Unless what follows takes its place, it must not wait for approval: that would be a start.
      ...(run.part === "plan" && run.status === "completed" ? { status: "failed" as const, ...PLAN_EXPIRED } : {}),
      task_id,
      owner,
      options_json: JSON.stringify({ ...parseOptions(options_json), notice: undefined }),
      estimate_json,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("task_id").doNothing())
    .returning("task_id")
    .executeTakeFirst();
  if (inserted === undefined) return false;
  if (related.carries_on !== null && related.gave_way === 0)
    await transition(transaction, {
      taskId: related.carries_on,
      to: "completed",
      from: ["failed"],
      holder: "any",
      set: errorColumns(undefined),
    })
      .where("part", "=", "plan")
      .where("error_code", "=", PLAN_EXPIRED.error_code)
      .execute();
  if (result !== null) {
    const { report, sources, citations, metadata, supports, search_suggestions, claims, ...rest } = result;
    const searched = { taskId: task_id, query: run.query, report, sources: sourceList.parse(JSON.parse(sources)) };
    await transaction
      .insertInto("research_results")
      .values({
        ...rest,
        task_id,
        report_markdown: report,
        has_text: hasText(report),
        sources_json: sources,
        citations_json: citations,
        metadata_json: metadata,
        supports_json: supports,
        suggestions: search_suggestions,
        claims_json: claims,
        citations_checked_at: now,
        search_rowid: run.part === "plan" ? null : await addToSearch(transaction, searched),
      })
      .execute();
    await savePictures(transaction, task_id, pictures);
  }
  for (let from = 0; from < events.length; from += RUNS_PER_PAGE) {
    const some = events
      .slice(from, from + RUNS_PER_PAGE)
      .map(({ data: data_json, ...event }) => ({ ...event, task_id, data_json }));
    await transaction.insertInto("research_events").values(some).execute();
  }
  for (const cost of costs) {
    const counted = { state: "released" as const, day: dayNumber(cost.created_at), reserved_micros: 0, micros: 0 };
    await transaction
      .insertInto("ledger")
      .values({ ...cost, ...counted, entry_id: randomUUID(), task_id, owner })
      .execute();
  }
  return true;
}

/** What a run continues, if that is the owner's and has ended, or takes the place of, if that was added before it. */
async function relations(
  db: Database,
  { owner, run, added }: Pick<Restored, "owner" | "added"> & { run: ArchivedRows["run"] },
) {
  const { parent_task_id: parent, carries_on: origin, gave_way } = run;
  const runs = ended(db, owner).select("task_id");
  const found = parent === null ? undefined : await runs.where("task_id", "=", parent).executeTakeFirst();
  const parent_task_id = found?.task_id ?? null;
  const alone = { parent_task_id, carries_on: null, gave_way: 0 as const };
  if (origin === null || !added.has(origin)) return alone;
  const open = db.selectFrom("research_tasks").select("task_id").where("task_id", "=", origin).where(isNotCarriedOn);
  // One run at a time carries on another.
  if (gave_way === 0 && (await open.executeTakeFirst()) === undefined)
    return { ...alone, parent_task_id: parent_task_id ?? origin };
  return { parent_task_id, carries_on: origin, gave_way };
}
