/**
 * SQL of the ledger: a row per paid request, reserved at the upper end of its estimate before it is sent, then settled with
 * the usage that Google reports, or released if it certainly cost nothing.
 */

import { type ExpressionBuilder, sql } from "kysely";
import { LOCAL_OWNER } from "../../caller.ts";
import { type Cost, roundUsd } from "../../costs/actual.ts";
import type { Database, Tables } from "../../store/database.ts";

export type LedgerKind = Tables["ledger"]["kind"];

export const MICROS = 1_000_000;
const DAY_MS = 86_400_000;

/** Days since 1970, UTC. */
export const dayNumber = (ms: number): number => Math.floor(ms / DAY_MS);

/** Rounded up, so that a sum of many small costs is never too low. */
export const microsOf = (usd: number): number => Math.ceil(Number((usd * MICROS).toFixed(3)));

/** In the place of a user's name that is no longer kept. */
const FORGOTTEN_OWNER = "(former user)";

export interface Reservation {
  /** Of a start, its attempt. */
  entryId: string;
  taskId: string;
  owner: string;
  keyFingerprint: string | undefined;
  model: string | undefined;
  kind: LedgerKind;
  isConfirmed: boolean;
  /** The upper end of its estimate; undefined without a price. */
  maxUsd: number | undefined;
  /** Thresholds of budgets that this request is the first to reach. */
  warned?: readonly string[] | undefined;
  /** By the clock of the database. */
  at: number;
}

/** Call it in the transaction that stores the intent to send the request. */
export async function reserve(db: Database, reservation: Reservation): Promise<void> {
  const { entryId, taskId, owner, keyFingerprint, model, kind, isConfirmed, maxUsd = 0, warned = [], at } = reservation;
  const micros = microsOf(maxUsd);
  await db
    .insertInto("ledger")
    .values({
      entry_id: entryId,
      // Null if the database did not take the run, or it is deleted: the request is counted all the same.
      task_id: db.selectFrom("research_tasks").select("task_id").where("task_id", "=", taskId),
      owner,
      key_fingerprint: keyFingerprint ?? null,
      model: model ?? null,
      kind,
      confirmed: isConfirmed ? 1 : 0,
      day: dayNumber(at),
      created_at: at,
      reserved_micros: micros,
      micros,
      warned: warned.length === 0 ? null : JSON.stringify(warned),
      schedule_id: db.selectFrom("research_tasks").select("schedule_id").where("task_id", "=", taskId),
    })
    .execute();
}

/** Reserves as much as for another attempt of the same run: the next attempt, or a second interaction of one start. */
export async function reserveLike(
  db: Database,
  { entryId, like, taskId, at }: Pick<Reservation, "entryId" | "taskId" | "at"> & { like: string },
): Promise<void> {
  const found = db
    .selectFrom("ledger")
    .select(["owner", "key_fingerprint", "model", "kind", "confirmed", "schedule_id"])
    .select(["reserved_micros", "reserved_micros as micros"])
    .where("entry_id", "=", like);
  const row = await found.executeTakeFirst();
  if (row === undefined) return;
  await db
    .insertInto("ledger")
    .values({ ...row, entry_id: entryId, task_id: taskId, day: dayNumber(at), created_at: at })
    .execute();
}

/** Call it before the attempts of deleted runs are: of what is reserved, the usage may still be reported. */
export async function keepInteractionIds(transaction: Database, taskIds: string[]): Promise<void> {
  await transaction
    .updateTable("ledger")
    .set((row) => {
      const attempt = row.selectFrom("research_attempts").whereRef("attempt_id", "=", "ledger.entry_id");
      return {
        interaction_id: attempt.select("research_attempts.interaction_id"),
        base_url: attempt.select("research_attempts.base_url"),
      };
    })
    .where("task_id", "in", taskIds)
    .where("state", "=", "reserved")
    .execute();
}

/** Removes the names of users from rows of before this time; what was spent stays counted. */
export async function forgetOwners(db: Database, before: number): Promise<void> {
  const isNamed = (row: ExpressionBuilder<Tables, "ledger">) =>
    row.and([row("day", "<", dayNumber(before)), row("owner", "not in", [LOCAL_OWNER, FORGOTTEN_OWNER])]);
  // The usual case: an update that changes nothing would still wait for the write lock.
  const named = await db.selectFrom("ledger").select("owner").where(isNamed).limit(1).executeTakeFirst();
  if (named === undefined) return;
  await db.updateTable("ledger").set({ owner: FORGOTTEN_OWNER }).where(isNamed).execute();
}

/** Removes the interaction ids of deleted runs from rows of before this time. */
export async function forgetInteractionIds(db: Database, before: number): Promise<void> {
  const hasId = (row: ExpressionBuilder<Tables, "ledger">) =>
    row.and([row("day", "<", dayNumber(before)), row("interaction_id", "is not", null)]);
  const kept = await db.selectFrom("ledger").select("entry_id").where(hasId).limit(1).executeTakeFirst();
  if (kept === undefined) return;
  await db.updateTable("ledger").set(NO_INTERACTION).where(hasId).execute();
}

const NO_INTERACTION = { interaction_id: null, base_url: null };

/** The request certainly cost nothing. A row that was settled stays so. */
export async function release(db: Database, entryId: string): Promise<void> {
  await db
    .updateTable("ledger")
    .set({ state: "released", micros: 0 })
    .where("entry_id", "=", entryId)
    .where("state", "=", "reserved")
    .execute();
}

/** Whether it is charged is open again: it was accepted after all, or the usage was another interaction's. */
export async function reserveAgain(db: Database, entryId: string): Promise<void> {
  await db
    .updateTable("ledger")
    .set((row) => ({
      state: "reserved",
      micros: row.ref("reserved_micros"),
      cost_micros: null,
      settled_at: null,
      incomplete: 0,
      estimated: 0,
    }))
    .where("entry_id", "=", entryId)
    .execute();
}

/** The entry of the attempt that Google answered with this interaction. */
const entryOf = (interactionId: string) => (row: ExpressionBuilder<Tables, "ledger">) =>
  row(
    "entry_id",
    "=",
    row
      .selectFrom("research_attempts")
      .select((attempt) => attempt.ref("attempt_id").as("entry_id"))
      .where("interaction_id", "=", interactionId),
  );

const costColumns = ({ usd, incomplete, estimated }: Cost) => ({
  cost_micros: usd === undefined ? null : microsOf(usd),
  incomplete: incomplete ? (1 as const) : (0 as const),
  estimated: estimated ? (1 as const) : (0 as const),
});

const reservedOr = (row: ExpressionBuilder<Tables, "ledger">, { usd = 0 }: Cost) =>
  row.case().when("reserved_micros", "<", microsOf(usd)).then(microsOf(usd)).else(row.ref("reserved_micros")).end();

const settledColumns =
  ({ cost, isPartial, at }: Outcome) =>
  (row: ExpressionBuilder<Tables, "ledger">) => ({
    ...costColumns(cost),
    state: "settled" as const,
    settled_at: at,
    micros: isPartial === true ? reservedOr(row, cost) : microsOf(cost.usd ?? 0),
    ...NO_INTERACTION,
  });

/**
 * Replaces the reservation by the cost of the usage that Google has reported, or keeps it if that is only partly known,
 * as without a price. The last report counts.
 */
export async function settleInteraction(
  db: Database,
  { interactionId, cost, now }: { interactionId: string; cost: Cost; now: number },
): Promise<void> {
  const settled = settledColumns({ cost, isPartial: cost.incomplete, at: now });
  await db.updateTable("ledger").set(settled).where(entryOf(interactionId)).execute();
}

export async function settleEntry(
  db: Database,
  { entryId, cost, now }: { entryId: string; cost: Cost; now: number },
): Promise<void> {
  const settled = settledColumns({ cost, isPartial: cost.incomplete, at: now });
  await db.updateTable("ledger").set(settled).where("entry_id", "=", entryId).execute();
}

/** What Google has reported so far of a run in progress; its reservation stays, unless this is already more. */
export async function noteCost(db: Database, taskId: string, cost: Cost): Promise<void> {
  const current = db
    .selectFrom("research_attempts")
    .innerJoin("research_tasks", "research_tasks.interaction_id", "research_attempts.interaction_id")
    .select("attempt_id as entry_id")
    .where("research_tasks.task_id", "=", taskId);
  await db
    .updateTable("ledger")
    .set((row) => ({ ...costColumns(cost), micros: reservedOr(row, cost) }))
    .where("entry_id", "=", current)
    .where("state", "=", "reserved")
    .execute();
}

interface Outcome {
  cost: Cost;
  /** Only part of the usage was reported: the row counts what was reserved, unless this is already more. */
  isPartial?: boolean;
  at: number;
}

/** A paid request of this process, from before it is sent until its outcome is stored. */
export interface LedgerEntry extends Reservation {
  /** Undefined while it is in progress, or if it may have been charged without usage being reported. */
  outcome?: Outcome | "uncharged" | undefined;
}

/** What counts of it. */
export function countedMicros({ maxUsd = 0, outcome }: LedgerEntry): number {
  if (outcome === "uncharged") return 0;
  const reserved = microsOf(maxUsd);
  if (outcome === undefined) return reserved;
  const cost = microsOf(outcome.cost.usd ?? 0);
  return outcome.isPartial === true ? Math.max(reserved, cost) : cost;
}

/** Stores requests with their outcomes. Repeating it changes nothing, so that a refused write is made good later. */
export async function saveEntries(db: Database, entries: readonly LedgerEntry[]): Promise<void> {
  for (const entry of entries) {
    const known = await db
      .selectFrom("ledger")
      .select("entry_id")
      .where("entry_id", "=", entry.entryId)
      .executeTakeFirst();
    if (known === undefined) await reserve(db, entry);
    const { outcome } = entry;
    if (outcome === "uncharged") await release(db, entry.entryId);
    else if (outcome !== undefined) {
      await db
        .updateTable("ledger")
        .set((row) => ({ ...settledColumns(outcome)(row), model: entry.model ?? null }))
        .where("entry_id", "=", entry.entryId)
        .execute();
    }
  }
}

/** The columns of `RUN_COST`. */
export interface CostOfRun {
  cost_micros: number | null;
  cost_incomplete: number | null;
  cost_estimated: number | null;
  /** 1: a request was sent, and may have been charged, whether or not Google has reported its usage. */
  may_be_charged: number | null;
}

const OF_RUN = sql`from ledger where ${sql.ref("ledger.task_id")} = ${sql.ref("research_tasks.task_id")}`;

/** What the requests of a run have cost, without the judge of its citations; for queries of `research_tasks`. */
export const RUN_COST = [
  sql<number | null>`(select sum(cost_micros) ${OF_RUN} and kind <> 'judge')`.as("cost_micros"),
  sql<number | null>`(select max(incomplete) ${OF_RUN} and kind <> 'judge')`.as("cost_incomplete"),
  sql<number | null>`(select max(estimated) ${OF_RUN} and kind <> 'judge')`.as("cost_estimated"),
  sql<number | null>`(select max(case when state <> 'released' then 1 else 0 end) ${OF_RUN} and kind <> 'judge')`.as(
    "may_be_charged",
  ),
] as const;

/** Of a run that was just stored. */
export const NO_COST_YET: CostOfRun = {
  cost_micros: null,
  cost_incomplete: null,
  cost_estimated: null,
  may_be_charged: null,
};

export const costOfRun = ({
  cost_micros: micros,
  cost_incomplete,
  cost_estimated,
}: Omit<CostOfRun, "may_be_charged">): Cost => ({
  usd: micros === null ? undefined : roundUsd(micros / MICROS),
  incomplete: cost_incomplete === 1,
  estimated: cost_estimated === 1,
});

export const isExact = (row: Pick<CostOfRun, "cost_incomplete" | "cost_estimated">): boolean =>
  row.cost_incomplete !== 1 && row.cost_estimated !== 1;

/** What judging the citations of one run has cost; incomplete while a request is in progress, or lost, or has no price. */
export async function findJudgeCost(db: Database, taskId: string): Promise<Cost> {
  const row = await db
    .selectFrom("ledger")
    .select((entry) => entry.fn.sum<number | null>("cost_micros").as("micros"))
    .select(sql<number | null>`max(case when state = 'reserved' or incomplete = 1 then 1 else 0 end)`.as("unpriced"))
    .where("task_id", "=", taskId)
    .where("kind", "=", "judge")
    .executeTakeFirst();
  const micros = row?.micros ?? 0;
  return { usd: micros > 0 ? micros / MICROS : undefined, incomplete: row?.unpriced === 1, estimated: false };
}

/** What the requests to the judge about the citations of a run count. */
export async function judgeMicros(db: Database, taskId: string): Promise<number> {
  const row = await db
    .selectFrom("ledger")
    .select((entry) => entry.fn.sum<number | null>("micros").as("micros"))
    .where("task_id", "=", taskId)
    .where("kind", "=", "judge")
    .executeTakeFirst();
  return row?.micros ?? 0;
}

/** What the requests of a search count, with those of the searches that it continues. */
export async function countedUsdOfLine(db: Database, taskId: string): Promise<number> {
  let micros = 0;
  for (let id: string | null = taskId; id !== null;) {
    const run: { parent: string | null; micros: number | null } | undefined = await db
      .selectFrom("research_tasks")
      .select("parent_task_id as parent")
      .select(sql<number | null>`(select sum(micros) ${OF_RUN} and kind <> 'judge')`.as("micros"))
      .where("task_id", "=", id)
      .executeTakeFirst();
    micros += run?.micros ?? 0;
    id = run?.parent ?? null;
  }
  return micros / MICROS;
}

export interface Spending {
  /** Days since 1970, UTC. */
  day: number;
  owner: string;
  model: string | undefined;
  kind: LedgerKind;
  /** Requests that may have been charged. */
  requests: number;
  /** What counts: the cost of settled requests, and the reservations of the others. */
  usd: number;
  /** The part of `usd` that is reserved, because Google has not reported the usage. */
  reservedUsd: number;
  incomplete: boolean;
  estimated: boolean;
}

/** What was spent from one UTC day to another, both included, by day, owner, model and kind: of one owner, or of all. */
export async function readSpending(
  db: Database,
  { owner, fromDay, untilDay }: { owner?: string | undefined; fromDay: number; untilDay: number },
): Promise<Spending[]> {
  const rows = await db
    .selectFrom("ledger")
    .select(["day", "owner", "model", "kind"])
    .select((row) => [row.fn.countAll<number>().as("requests"), row.fn.sum<number>("micros").as("micros")])
    .select(sql<number>`sum(case when state = 'reserved' then micros else 0 end)`.as("reserved"))
    .select((row) => [row.fn.max("incomplete").as("incomplete"), row.fn.max("estimated").as("estimated")])
    .where("day", ">=", fromDay)
    .where("day", "<=", untilDay)
    .where("state", "!=", "released")
    .$if(owner !== undefined, (query) => query.where("owner", "=", owner ?? ""))
    .groupBy(["day", "owner", "model", "kind"])
    .orderBy("day")
    .execute();
  return rows.map(({ day, owner: of, model, kind, requests, micros, reserved, incomplete, estimated }) => ({
    day,
    owner: of,
    model: model ?? undefined,
    kind,
    requests,
    usd: micros / MICROS,
    reservedUsd: reserved / MICROS,
    incomplete: incomplete === 1,
    estimated: estimated === 1,
  }));
}
