import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog } from "../platform/log.ts";
import type { Database } from "./database.ts";
import { holdUntil, nextTurnAt, turnsNow, useTurns } from "./pace.ts";
import { openSqlite } from "./sqlite.ts";

const log = createLog({ from: "ERROR", format: "text", redact: (text) => text });
const START = 1_800_000_000_000;

let db: Database;
let close: () => Promise<void>;

beforeEach(async () => {
  ({ db, close } = await openSqlite(":memory:", log));
});

afterEach(() => close());

/** Turns taken in a time, by somebody who comes every so many milliseconds and takes all there are. */
async function takenIn(ms: number, { every, perSecond }: { every: number; perSecond: number }): Promise<number> {
  const pace = { name: "test", perSecond };
  let taken = 0;
  for (let now = START; now < START + ms; now += every) {
    const { turns, from } = await turnsNow(db, pace, now);
    if (turns > 0) await useTurns(db, pace, { turns, from });
    taken += turns;
  }
  return taken;
}

test.each([
  { perSecond: 5, every: 1 },
  { perSecond: 5, every: 37 },
  { perSecond: 100, every: 50 },
  { perSecond: 0.1, every: 1_000 },
])("$perSecond a second are never more, however often somebody comes (every $every ms)", async (coming) => {
  const taken = await takenIn(60_000, coming);
  // The first turn is at once; the last may be some late ones.
  expect(taken).toBeLessThanOrEqual(coming.perSecond * 60 + 1 + coming.perSecond / 10);
  expect(taken).toBeGreaterThan(coming.perSecond * 60 * 0.9 - 1);
});

test("a pause holds, a shorter one does not end it, and one from before the clock was set back is none", async () => {
  const pace = { name: "test", perSecond: 5 };
  await holdUntil(db, "test", START + 30_000);
  await holdUntil(db, "test", START + 10_000);
  expect(await turnsNow(db, pace, START + 29_999)).toMatchObject({ turns: 0 });
  expect(await turnsNow(db, pace, START + 30_000)).toMatchObject({ turns: 1 });
  expect(await nextTurnAt(db, "test", START - 3_600_000)).toBe(0);
});

test("turns that nobody took are not saved up", async () => {
  const pace = { name: "test", perSecond: 5 };
  const first = await turnsNow(db, pace, START);
  await useTurns(db, pace, first);
  expect(await turnsNow(db, pace, START + 3_600_000)).toMatchObject({ turns: 1 });
});
