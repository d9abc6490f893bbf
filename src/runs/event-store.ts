/** SQL for the events of a run, in order. */

import { z } from "zod";
import type { Site } from "../reports/site.ts";
import { compiledQuery } from "../store/compiled-query.ts";
import { type Database, storable, type Tables } from "../store/database.ts";
import { lockRun } from "./lock-store.ts";
import type { SavedRound } from "./run.ts";
import { storedJson } from "./run-row.ts";

export interface RunEvent {
  kind: string;
  text: string;
  at: number;
  /** The site that a `source` event names. */
  site?: Site | undefined;
  /** The finished round that a `round` event is about. */
  round?: SavedRound | undefined;
  /** Two events of a run with the same key are duplicates. */
  eventKey?: string | undefined;
}

export interface StoredEvent extends RunEvent {
  seq: number;
}

/** A statement takes a limited number of values (SQLite: 32,766); a run can produce thousands of events in a second. */
const MAX_ROWS_PER_STATEMENT = 1_000;

function* chunksOf<T>(items: readonly T[]): Generator<T[]> {
  for (let from = 0; from < items.length; from += MAX_ROWS_PER_STATEMENT)
    yield items.slice(from, from + MAX_ROWS_PER_STATEMENT);
}

/** Stores the events that are not stored yet, and returns them. */
export const appendEvents = <Event extends RunEvent>(db: Database, taskId: string, events: Event[]): Promise<Event[]> =>
  db.transaction().execute(async (transaction) => {
    await lockRun(transaction, taskId);
    return insertEvents(transaction, taskId, events);
  });

/** The same inside a transaction that holds the lock of the run. */
export async function insertEvents<Event extends RunEvent>(
  transaction: Database,
  taskId: string,
  events: Event[],
): Promise<Event[]> {
  const last = await transaction
    .selectFrom("research_events")
    .select(["seq", "at"])
    .where("task_id", "=", taskId)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  const known = await knownEventKeys(transaction, taskId, events);
  const fresh = events.filter(({ eventKey }) => {
    if (eventKey === undefined) return true;
    const isNew = !known.has(eventKey);
    known.add(eventKey);
    return isNew;
  });
  if (fresh.length === 0) return [];
  const first = (last?.seq ?? 0) + 1;
  const rows = fresh.map((event, index) => ({
    task_id: taskId,
    seq: first + index,
    // Several processes may store events of one stream. Times must not decrease, because the order is Google's.
    at: Math.max(event.at, last?.at ?? 0),
    kind: event.kind,
    data_json: storable(JSON.stringify({ text: event.text, site: event.site, round: event.round })),
    event_key: event.eventKey ?? null,
  }));
  for (const chunk of chunksOf(rows)) await transaction.insertInto("research_events").values(chunk).execute();
  return fresh;
}

/** Keys of the given events that are stored already, by this or another process. */
async function knownEventKeys(db: Database, taskId: string, events: RunEvent[]): Promise<Set<string | null>> {
  const keys = events.flatMap(({ eventKey }) => eventKey ?? []);
  const known = new Set<string | null>();
  for (const chunk of chunksOf(keys)) {
    const rows = await db
      .selectFrom("research_events")
      .select("event_key")
      .where("task_id", "=", taskId)
      .where("event_key", "in", chunk)
      .execute();
    for (const { event_key } of rows) known.add(event_key);
  }
  return known;
}

/** Position in the stream of a run after the last stored event. */
export interface StreamCursor {
  eventKey: string | undefined;
  searches: number;
  thoughts: number;
}

export async function storedCursor(db: Database, taskId: string): Promise<StreamCursor> {
  const rows = db.selectFrom("research_events").where("task_id", "=", taskId);
  const last = await rows
    .select("event_key")
    .where("event_key", "is not", null)
    // The keys of sites and phases contain no position in the stream.
    .where("kind", "in", ["thought", "search"])
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  const counts = await eventCounts(db, taskId);
  const count = (kind: string): number => counts.get(kind)?.count ?? 0;
  return { eventKey: last?.event_key ?? undefined, searches: count("search"), thoughts: count("thought") };
}

export async function lastEvent(db: Database, taskId: string, kind: string): Promise<RunEvent | undefined> {
  const [last] = await newestOfKind(db, taskId, { kind, limit: 1 });
  return last;
}

const eventsOf = (db: Database, taskId: string) =>
  db.selectFrom("research_events").selectAll().where("task_id", "=", taskId);

/** The events after this sequence number, oldest first. */
export async function eventsAfter(
  db: Database,
  taskId: string,
  { after, limit }: { after: number; limit: number },
): Promise<StoredEvent[]> {
  const rows = await eventsOf(db, taskId).where("seq", ">", after).orderBy("seq").limit(limit).execute();
  return rows.map(eventOf);
}

/** The newest events, oldest first. */
export async function newestEvents(db: Database, taskId: string, limit: number): Promise<StoredEvent[]> {
  const rows = await eventsOf(db, taskId).orderBy("seq", "desc").limit(limit).execute();
  return rows.map(eventOf).toReversed();
}

/** How many events of each kind a run has, and the position of the last one. */
export async function eventCounts(db: Database, taskId: string): Promise<Map<string, { count: number; last: number }>> {
  const rows = await countsByKind(db, { taskId });
  return new Map(rows.map(({ kind, count, last }) => [kind, { count, last }]));
}

const countsByKind = compiledQuery((db, { taskId }: { taskId: string }) =>
  db
    .selectFrom("research_events")
    .select((select) => ["kind", select.fn.countAll<number>().as("count"), select.fn.max("seq").as("last")])
    .where("task_id", "=", taskId)
    .groupBy("kind"),
);

/** The newest events of a kind, newest first. */
export async function newestOfKind(
  db: Database,
  taskId: string,
  { kind, limit }: { kind: string; limit: number },
): Promise<StoredEvent[]> {
  return (await newestRows(db, { taskId, kind, limit })).map(eventOf);
}

const newestRows = compiledQuery((db, { taskId, kind, limit }: { taskId: string; kind: string; limit: number }) =>
  eventsOf(db, taskId).where("kind", "=", kind).orderBy("seq", "desc").limit(limit),
);

const storedData = z.object({
  text: z.string(),
  site: z.object({ url: z.string(), title: z.string(), domain: z.string() }).optional().catch(undefined),
});

const eventOf = ({ seq, at, kind, data_json }: Tables["research_events"]): StoredEvent => ({
  seq,
  at,
  kind,
  ...storedJson(data_json, storedData),
});
