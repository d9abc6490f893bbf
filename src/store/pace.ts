/** A rate that all processes keep together: one row says when the next turn is. */

import { sql } from "kysely";
import type { Database } from "./database.ts";
import { alone, isShared, nowOf } from "./dialect.ts";

export interface Pace {
  name: string;
  perSecond: number;
}

/** Turns that nobody took are lost, but for those of the last moment: a timer may be late. */
const LATE_MS = 100;
/** No pause that is asked for lasts longer: it was written before the clock was set back. */
const LONGEST_WAIT_MS = 16 * 60_000;

/*
 * `here` is the time of this process: on a shared database all go by the database's, asked for when nobody else can
 * have a turn any more.
 */

/** Inside the transaction that uses them: how many turns there are now. */
export async function turnsNow(db: Database, pace: Pace, here: number): Promise<{ turns: number; from: number }> {
  await alone(db, turnOf(pace.name));
  const now = await nowOf(db, here);
  const nextAt = await nextTurnAt(db, pace.name, now);
  const from = Math.max(nextAt, now - LATE_MS);
  // All of this millisecond, of which there may be several.
  return { turns: from > now ? 0 : Math.ceil((now + 1 - from) / spacing(pace)), from };
}

export async function useTurns(db: Database, pace: Pace, used: { turns: number; from: number }): Promise<void> {
  await writeNextTurn(db, pace.name, used.from + used.turns * spacing(pace));
}

/** Takes the next free turn, and returns how long it is until then. */
export async function reserveTurn(db: Database, pace: Pace, here: number): Promise<number> {
  if (isShared(db)) {
    const reserved = await reserveTurns(db, pace, { turns: 1, withinMs: LONGEST_WAIT_MS });
    return "fromMs" in reserved ? reserved.fromMs : reserved.waitMs;
  }
  return db.transaction().execute(async (transaction) => {
    const at = Math.max(here, await nextTurnAt(transaction, pace.name, here));
    await writeNextTurn(transaction, pace.name, at + spacing(pace));
    return at - here;
  });
}

/**
 * So many turns in a row with one statement of a shared database: when the first is. None when even that is further
 * ahead than `withinMs`: then how far it is.
 */
export async function reserveTurns(
  db: Database,
  pace: Pace,
  { turns, withinMs }: { turns: number; withinMs: number },
): Promise<{ fromMs: number } | { waitMs: number }> {
  const costMs = Math.ceil(turns * spacing(pace));
  // Read anew in each place: after a wait for the row's lock, permits of the time that has passed are lost rather than
  // saved up for a burst.
  const now = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  const { rows } = await sql<{ fromMs: number }>`
    insert into pace as rate (name, next_at) values (${pace.name}, ${now} + ${costMs}::bigint)
    on conflict (name) do update set next_at = ${costMs}::bigint
      + case when rate.next_at > ${now} + ${LONGEST_WAIT_MS}::bigint then ${now} else greatest(rate.next_at, ${now}) end
    where rate.next_at <= ${now} + ${withinMs}::bigint or rate.next_at > ${now} + ${LONGEST_WAIT_MS}::bigint
    returning next_at - ${costMs}::bigint - ${now} as "fromMs"`.execute(db);
  const [reserved] = rows;
  return reserved ?? { waitMs: await waitForTurn(db, pace.name, 0) };
}

/** One turn of a minute's, which may all be taken at once: 0, or how long there is none. */
export async function turnOfMinute(
  db: Database,
  { name, perMinute }: { name: string; perMinute: number },
  here: number,
): Promise<number> {
  await alone(db, turnOf(name));
  const now = await nowOf(db, here);
  const between = Math.ceil(60_000 / perMinute);
  const nextAt = Math.max(now, await nextTurnAt(db, name, now));
  const wait = nextAt + between - (now + Math.max(60_000, between));
  if (wait <= 0) await writeNextTurn(db, name, nextAt + between);
  return Math.max(0, wait);
}

/** How long there is no turn: a time that no clock has to agree on. */
export async function waitForTurn(db: Database, name: string, here: number): Promise<number> {
  const now = await nowOf(db, here);
  return Math.max(0, (await nextTurnAt(db, name, now)) - now);
}

/** Nobody gets a turn for so long. */
export async function holdFor(
  db: Database,
  name: string,
  { ms, now: here }: { ms: number; now: number },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await alone(transaction, turnOf(name));
    const now = await nowOf(transaction, here);
    if ((await nextTurnAt(transaction, name, now)) < now + ms) await writeNextTurn(transaction, name, now + ms);
  });
}

/** When the next turn is; 0 while nobody has had one. */
async function nextTurnAt(db: Database, name: string, now: number): Promise<number> {
  const row = await db.selectFrom("pace").select("next_at").where("name", "=", name).executeTakeFirst();
  const nextAt = row?.next_at ?? 0;
  return nextAt > now + LONGEST_WAIT_MS ? 0 : nextAt;
}

const turnOf = (name: string): string => `pace:${name}`;

const spacing = ({ perSecond }: Pace): number => 1_000 / perSecond;

async function writeNextTurn(db: Database, name: string, at: number): Promise<void> {
  // Whole milliseconds, rounded to the slower side: PostgreSQL refuses others.
  const nextAt = Math.ceil(at);
  await db
    .insertInto("pace")
    .values({ name, next_at: nextAt })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ next_at: nextAt }))
    .execute();
}
