import { beforeEach, expect, test } from "vitest";
import { onPostgres, setClock } from "../../test/kit/store/databases.ts";
import { openDatabase } from "../../test/kit/store/store-rows.ts";
import type { Database } from "./database.ts";
import { pauseFor, reservePermit, reservePermits, msUntilPermit } from "./rate-limiter.ts";

const START = 1_800_000_000_000;
/** Fewer on PostgreSQL, where every query is a network round trip. */
const SECONDS = onPostgres ? 4 : 60;

const pace = { name: "test", perSecond: 5 };
let db: Database;

beforeEach(async () => {
  db = await openDatabase({ stoppedAt: START });
});

/** Calls with the database clock at `now`. On PostgreSQL the process clock is off by up to 4 s. */
async function at<T>(now: number, asked: (here: number) => Promise<T>): Promise<T> {
  await setClock(db, now);
  return asked(onPostgres ? now - 4_000 + Math.round(Math.random() * 8_000) : now);
}

/** The times of the permits that a caller reserves in batches, for as long as they are near. */
async function reservedIn(
  ms: number,
  { every, permits, perSecond }: Record<"every" | "permits" | "perSecond", number>,
) {
  const times: number[] = [];
  for (let time = START; time < START + ms; time += every) {
    const reservation = { permits, withinMs: 2_000 };
    const reserved = await at(time, (now) => reservePermits(db, { name: "test", perSecond }, { ...reservation, now }));
    if ("waitMs" in reserved) continue;
    for (let n = 0; n < permits; n += 1) times.push(time - START + reserved.fromMs + (n * 1_000) / perSecond);
  }
  return times;
}

test.each([
  { perSecond: 15, every: 100, permits: 8 },
  { perSecond: 5, every: 37, permits: 1 },
  { perSecond: 100, every: 50, permits: 6 },
  { perSecond: 0.5, every: 1_000, permits: 1 },
])("permits for $perSecond per second are as many as allowed, and never more (P2)", async (coming) => {
  const times = await reservedIn(SECONDS * 1_000, coming);
  expect(times.length).toBeGreaterThanOrEqual(coming.perSecond * SECONDS * 0.95);
  for (const from of times) {
    const inSecond = times.filter((one) => one >= from && one < from + 1_000).length;
    expect(inSecond).toBeLessThanOrEqual(Math.ceil(coming.perSecond) + 1);
  }
});

test("a pause lasts, a shorter one does not end it, and one from before the clock was set back is ignored", async () => {
  const reserveNow = (now: number) => reservePermits(db, pace, { permits: 1, withinMs: 0, now });
  await at(START, (now) => pauseFor(db, "test", { ms: 30_000, now }));
  await at(START, (now) => pauseFor(db, "test", { ms: 10_000, now }));
  expect(await at(START + 29_999, (now) => reserveNow(now))).toEqual({ waitMs: 1 });
  expect(await at(START + 10_000, (now) => msUntilPermit(db, "test", now))).toBe(20_000);
  expect(await at(START - 3_600_000, (now) => msUntilPermit(db, "test", now))).toBe(0);
  expect(await at(START - 3_600_000, (now) => reserveNow(now))).toEqual({ fromMs: 0 });
});

test("a pause of fractions of a millisecond lasts to its end (P4)", async () => {
  await at(START, (now) => pauseFor(db, "test", { ms: 34_074.824224, now }));
  expect(await at(START + 34_074, (now) => reservePermit(db, pace, now))).toBe(1);
});

test("unused permits do not accumulate", async () => {
  await at(START, (now) => reservePermit(db, pace, now));
  expect(await at(START + 3_600_000, (now) => reservePermit(db, pace, now))).toBe(0);
  expect(await at(START + 3_600_000, (now) => reservePermit(db, pace, now))).toBe(200);
});
