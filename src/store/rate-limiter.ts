/** Rate limits shared by all processes: one row per limit holds the time of the next permit. */

import { sql } from "kysely";
import type { Database } from "./database.ts";
import { databaseNow, isShared, lockExclusive } from "./dialect.ts";

export interface RateLimit {
  name: string;
  perSecond: number;
}

/** Unused permits expire, except those of the last 100 ms: a timer may fire late. */
const MAX_UNUSED_MS = 100;
/** A later time in the row was written before the clock was set back, and is ignored. */
const MAX_WAIT_MS = 16 * 60_000;

/*
 * `now` and `here` are the clock of this process. A shared database uses its own clock instead, read while the limit is
 * locked.
 */

/** How many permits are available now. Called in the transaction that then takes them. */
export async function availablePermits(
  transaction: Database,
  limit: RateLimit,
  here: number,
): Promise<{ permits: number; from: number }> {
  await lockExclusive(transaction, lockOf(limit.name));
  const now = await databaseNow(transaction, here);
  const nextAt = await nextPermitAt(transaction, limit.name, now);
  const from = Math.max(nextAt, now - MAX_UNUSED_MS);
  // At more than 1,000 per second, several permits fall into one millisecond.
  return { permits: from > now ? 0 : Math.ceil((now + 1 - from) / spacing(limit)), from };
}

export async function takePermits(
  transaction: Database,
  limit: RateLimit,
  taken: { permits: number; from: number },
): Promise<void> {
  await writeNextPermit(transaction, limit.name, taken.from + taken.permits * spacing(limit));
}

/** Reserves the next free permit and returns the milliseconds until it is valid. */
export async function reservePermit(db: Database, limit: RateLimit, here: number): Promise<number> {
  if (isShared(db)) {
    const reserved = await reservePermits(db, limit, { permits: 1, withinMs: MAX_WAIT_MS });
    return "fromMs" in reserved ? reserved.fromMs : reserved.waitMs;
  }
  return db.transaction().execute(async (transaction) => {
    const at = Math.max(here, await nextPermitAt(transaction, limit.name, here));
    await writeNextPermit(transaction, limit.name, at + spacing(limit));
    return at - here;
  });
}

/**
 * Reserves consecutive permits on PostgreSQL with one statement, and returns when the first is valid. Reserves none
 * when that is more than `withinMs` ahead, and returns how far ahead it is.
 */
export async function reservePermits(
  db: Database,
  limit: RateLimit,
  { permits, withinMs }: { permits: number; withinMs: number },
): Promise<{ fromMs: number } | { waitMs: number }> {
  const costMs = Math.ceil(permits * spacing(limit));
  // Each occurrence reads the clock again: permits that expire during a wait for the row lock are lost rather than
  // saved up for a burst.
  const now = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  const { rows } = await sql<{ fromMs: number }>`
    insert into rate_limits as rate (name, next_at) values (${limit.name}, ${now} + ${costMs}::bigint)
    on conflict (name) do update set next_at = ${costMs}::bigint
      + case when rate.next_at > ${now} + ${MAX_WAIT_MS}::bigint then ${now} else greatest(rate.next_at, ${now}) end
    where rate.next_at <= ${now} + ${withinMs}::bigint or rate.next_at > ${now} + ${MAX_WAIT_MS}::bigint
    returning greatest(0, next_at - ${costMs}::bigint - ${now}) as "fromMs"`.execute(db);
  const [reserved] = rows;
  return reserved ?? { waitMs: await msUntilPermit(db, limit.name, 0) };
}

/** A duration, so that the clocks of different machines need not agree. */
export async function msUntilPermit(db: Database, name: string, here: number): Promise<number> {
  const now = await databaseNow(db, here);
  return Math.max(0, (await nextPermitAt(db, name, now)) - now);
}

/** Grants no permit for at least this long. */
export async function pauseFor(
  db: Database,
  name: string,
  { ms, now: here }: { ms: number; now: number },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, lockOf(name));
    const now = await databaseNow(transaction, here);
    if ((await nextPermitAt(transaction, name, now)) < now + ms) await writeNextPermit(transaction, name, now + ms);
  });
}

/** 0 before the first permit. */
async function nextPermitAt(db: Database, name: string, now: number): Promise<number> {
  const row = await db.selectFrom("rate_limits").select("next_at").where("name", "=", name).executeTakeFirst();
  const nextAt = row?.next_at ?? 0;
  return nextAt > now + MAX_WAIT_MS ? 0 : nextAt;
}

const lockOf = (name: string): string => `rate limit:${name}`;

const spacing = ({ perSecond }: RateLimit): number => 1_000 / perSecond;

async function writeNextPermit(db: Database, name: string, at: number): Promise<void> {
  // Whole milliseconds, which PostgreSQL requires, rounded up to stay below the rate.
  const nextAt = Math.ceil(at);
  await db
    .insertInto("rate_limits")
    .values({ name, next_at: nextAt })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ next_at: nextAt }))
    .execute();
}
