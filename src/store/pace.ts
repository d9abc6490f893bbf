/** A rate that all processes keep together: one row says when the next turn is. */

import type { Database } from "./database.ts";

export interface Pace {
  name: string;
  perSecond: number;
}

/** Turns that nobody took are lost, but for those of the last moment: a timer may be late. */
const LATE_MS = 100;
/** No pause that is asked for lasts longer: it was written before the clock was set back. */
const LONGEST_WAIT_MS = 16 * 60_000;

/** Inside the transaction that uses them: how many turns there are now. */
export async function turnsNow(db: Database, pace: Pace, now: number): Promise<{ turns: number; from: number }> {
  const nextAt = await nextTurnAt(db, pace.name, now);
  const from = Math.max(nextAt, now - LATE_MS);
  return { turns: from > now ? 0 : 1 + Math.floor((now - from) / spacing(pace)), from };
}

export async function useTurns(db: Database, pace: Pace, used: { turns: number; from: number }): Promise<void> {
  await writeNextTurn(db, pace.name, used.from + used.turns * spacing(pace));
}

/** When the next turn is; 0 while nobody has had one. */
export async function nextTurnAt(db: Database, name: string, now: number): Promise<number> {
  const row = await db.selectFrom("pace").select("next_at").where("name", "=", name).executeTakeFirst();
  const nextAt = row?.next_at ?? 0;
  return nextAt > now + LONGEST_WAIT_MS ? 0 : nextAt;
}

/** Nobody gets a turn before then. */
export async function holdUntil(db: Database, name: string, until: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    if ((await nextTurnAt(transaction, name, until)) < until) await writeNextTurn(transaction, name, until);
  });
}

// Whole milliseconds, rounded to the slower side.
const spacing = ({ perSecond }: Pace): number => Math.ceil(1_000 / perSecond);

async function writeNextTurn(db: Database, name: string, nextAt: number): Promise<void> {
  await db
    .insertInto("pace")
    .values({ name, next_at: nextAt })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ next_at: nextAt }))
    .execute();
}
