/** Rate limits shared by all processes: until when the permits of each are taken. */

import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";
import { databaseNow, isShared } from "./dialect.ts";

export interface RateLimit {
  name: string;
  perSecond: number;
}

/** A later time in the row was written before the clock was set back, and is ignored. */
const MAX_WAIT_MS = 16 * 60_000;
const FAR = sql`cast(${MAX_WAIT_MS} as bigint)`;

const row = (name: string, until: RawBuilder<unknown>) =>
  sql`(lease_id, pool, process_id, lease_until) values (${name}, 'rate limits', '', ${until})`;

/*
 * `now` and `here` are the clock of this process. A shared database uses its own clock instead, read while the limit is
 * locked.
 */

export interface Reservation {
  permits: number;
  withinMs: number;
  now: number;
}

/**
 * Reserves consecutive permits with one statement, and returns when the first is valid. Reserves none when that is more
 * than `withinMs` ahead, and returns how far ahead it is.
 */
export async function reservePermits(
  db: Database,
  { name, perSecond }: RateLimit,
  { permits, withinMs, now: here }: Reservation,
): Promise<{ fromMs: number } | { waitMs: number }> {
  const costMs = Math.ceil((permits * 1_000) / perSecond);
  // Permits that expire during a wait for the row lock are lost rather than saved up for a burst.
  const now = clockOf(db, here);
  const { rows } = await sql<{ aheadMs: number }>`
    insert into leases as rate ${row(name, sql`${now} + cast(${costMs} as bigint)`)}
    on conflict (lease_id) do update set lease_until = cast(${costMs} as bigint)
      + case when rate.lease_until between ${now} and ${now} + ${FAR} then rate.lease_until else ${now} end
    where rate.lease_until <= ${now} + cast(${withinMs} as bigint) or rate.lease_until > ${now} + ${FAR}
    returning lease_until - cast(${costMs} as bigint) - ${now} as "aheadMs"`.execute(db);
  const [reserved] = rows;
  if (reserved !== undefined) return { fromMs: Math.max(0, reserved.aheadMs) };
  return { waitMs: await msUntilPermit(db, name, here) };
}

/** Reserves the next free permit, however far ahead, and returns the milliseconds until it is valid. */
export async function reservePermit(db: Database, limit: RateLimit, now: number): Promise<number> {
  const reserved = await reservePermits(db, limit, { permits: 1, withinMs: MAX_WAIT_MS, now });
  return "fromMs" in reserved ? reserved.fromMs : reserved.waitMs;
}

/** A duration, so that the clocks of different machines need not agree. */
export async function msUntilPermit(db: Database, name: string, here: number): Promise<number> {
  const now = await databaseNow(db, here);
  const { rows } = await sql<{ until: number }>`
    select lease_until as until from leases where lease_id = ${name}`.execute(db);
  const waitMs = (rows[0]?.until ?? 0) - now;
  return waitMs > MAX_WAIT_MS ? 0 : Math.max(0, waitMs);
}

/** Grants no permit for at least this long. */
export async function pauseFor(
  db: Database,
  name: string,
  { ms, now: here }: { ms: number; now: number },
): Promise<void> {
  const now = clockOf(db, here);
  // Whole milliseconds, which PostgreSQL requires, rounded up to stay below the rate.
  const until = sql`${now} + cast(${Math.ceil(ms)} as bigint)`;
  await sql`
    insert into leases as rate ${row(name, until)}
    on conflict (lease_id) do update set lease_until = ${until}
    where rate.lease_until < ${until} or rate.lease_until > ${now} + ${FAR}`.execute(db);
}

/** Each occurrence reads the clock of a shared database again, after a wait for the lock of the row as well. */
const clockOf = (db: Database, here: number) =>
  isShared(db) ? sql`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql`${here}`;
