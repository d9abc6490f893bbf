import { beforeEach, expect, test } from "vitest";
import { onPostgres, setClock } from "../../test/kit/store/databases.ts";
import { openDatabase } from "../../test/kit/store/store-rows.ts";
import type { Database } from "./database.ts";
import { pauseFor, availablePermits, takePermits, msUntilPermit } from "./rate-limiter.ts";

const START = 1_800_000_000_000;
/** Fewer on PostgreSQL, where every query is a network round trip. */
const SECONDS = onPostgres ? 4 : 60;

let db: Database;

beforeEach(async () => {
  db = await openDatabase({ stoppedAt: START });
});

/** Calls with the database clock at `now`. On PostgreSQL the process clock is off by up to 4 s. */
async function at<T>(now: number, asked: (here: number) => Promise<T>): Promise<T> {
  await setClock(db, now);
  return asked(onPostgres ? now - 4_000 + Math.round(Math.random() * 8_000) : now);
}

/** The permits granted within `ms` to a caller that takes all available ones every `every` ms. */
async function takenIn(ms: number, { every, perSecond }: { every: number; perSecond: number }): Promise<number> {
  const pace = { name: "test", perSecond };
  let taken = 0;
  for (let now = START; now < START + ms; now += every) {
    const { permits, from } = await at(now, (here) => availablePermits(db, pace, here));
    if (permits > 0) await takePermits(db, pace, { permits, from });
    taken += permits;
  }
  return taken;
}

test.each([
  { perSecond: 5, every: 1 },
  { perSecond: 5, every: 37 },
  { perSecond: 100, every: 50 },
  { perSecond: 1_500, every: 50 },
  { perSecond: 10_000, every: 50 },
  { perSecond: 10_000, every: 10 },
  { perSecond: 0.1, every: 1_000 },
])(
  "a rate of $perSecond per second is never exceeded, however often permits are requested (every $every ms)",
  async (coming) => {
    const taken = await takenIn(SECONDS * 1_000, coming);
    // One more at the start, and at the end those of the last 100 ms.
    expect(taken).toBeLessThanOrEqual(coming.perSecond * SECONDS + 1 + coming.perSecond / 10);
    expect(taken).toBeGreaterThan(coming.perSecond * SECONDS * 0.9 - 1);
  },
);

test("a pause lasts, a shorter one does not end it, and one from before the clock was set back is ignored", async () => {
  const pace = { name: "test", perSecond: 5 };
  await at(START, (now) => pauseFor(db, "test", { ms: 30_000, now }));
  await at(START, (now) => pauseFor(db, "test", { ms: 10_000, now }));
  expect(await at(START + 29_999, (now) => availablePermits(db, pace, now))).toMatchObject({ permits: 0 });
  expect(await at(START + 30_000, (now) => availablePermits(db, pace, now))).toMatchObject({ permits: 1 });
  expect(await at(START + 10_000, (now) => msUntilPermit(db, "test", now))).toBe(20_000);
  expect(await at(START - 3_600_000, (now) => msUntilPermit(db, "test", now))).toBe(0);
});

test("a pause of fractions of a millisecond lasts to its end (P4)", async () => {
  const pace = { name: "test", perSecond: 5 };
  await at(START, (now) => pauseFor(db, "test", { ms: 34_074.824224, now }));
  expect(await at(START + 34_074, (now) => availablePermits(db, pace, now))).toMatchObject({ permits: 0 });
  expect(await at(START + 34_075, (now) => availablePermits(db, pace, now))).toMatchObject({ permits: 1 });
});

test("unused permits do not accumulate", async () => {
  const pace = { name: "test", perSecond: 5 };
  const first = await at(START, (now) => availablePermits(db, pace, now));
  await takePermits(db, pace, first);
  expect(await at(START + 3_600_000, (now) => availablePermits(db, pace, now))).toMatchObject({ permits: 1 });
});
