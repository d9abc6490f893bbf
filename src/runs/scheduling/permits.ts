/** Permits for requests to Google: the rate that all processes with one key share. */

import type { Database } from "../../store/database.ts";
import { isShared, type OnDialect } from "../../store/dialect.ts";
import { pauseFor, type RateLimit, reservePermit, reservePermits } from "../../store/rate-limiter.ts";
import type { ResearchDeps } from "../deps.ts";

/** The share of the allowed rate that is used: polls that are sent a little late add to the punctual ones. */
const USED_RATE = 0.94;
/** A poll whose permit is further ahead is put back, so that none waits long in memory. */
export const MAX_AHEAD_MS = 2_000;
/** Together with the share of the rate that is used, polls this late stay below 110 % of the rate in any second. */
const MAX_LATE_MS = 100;

const nameOf = (db: OnDialect, key: string): string => (isShared(db) ? `polls:${key}` : "polls");

/** On a shared database each key has a rate of its own. */
export const rateOf = (db: OnDialect, { key, maxRps }: { key: string; maxRps: number }): RateLimit => ({
  name: nameOf(db, key),
  perSecond: maxRps * USED_RATE,
});

/** Reserves a permit for opening a stream, which counts against the poll rate. Returns the time to wait in ms. */
export const permitStream = (
  db: Database,
  { now, ...access }: { maxRps: number; key: string; now: number },
): Promise<number> => reservePermit(db, rateOf(db, access), now);

/** Pauses the polls of all processes with this key, as requested by Google. */
export const pausePolls = (db: Database, { key, ...pause }: { key: string; ms: number; now: number }): Promise<void> =>
  pauseFor(db, nameOf(db, key), pause);

interface Wait {
  rate: RateLimit;
  permits: number;
  inMs: number;
  isScarce: boolean;
}

/**
 * Waits until the permit is valid. A process that was suspended or too busy to use its permit in time reserves another
 * one, once: late polls would add to the punctual ones of other processes. Not while permits are plentiful, because
 * each reservation is a statement. Returns how far ahead the other permit is if it is too far to wait for.
 */
export async function waitForPermit(
  { db, clock, leaving }: Pick<ResearchDeps, "db" | "clock" | "leaving">,
  { rate, permits, inMs, isScarce }: Wait,
): Promise<"valid" | { waitMs: number }> {
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, leaving).catch(() => undefined);
  const validAt = clock.monotonic() + inMs;
  await sleep(inMs);
  if (!isScarce || leaving.aborted || clock.monotonic() - validAt <= MAX_LATE_MS) return "valid";
  const reservation = { permits, withinMs: MAX_AHEAD_MS, now: clock.now() };
  // Without a database the poll is put back, and the others of its batch go on.
  const another = await reservePermits(db, rate, reservation).catch(() => ({ waitMs: MAX_AHEAD_MS }));
  if ("waitMs" in another) return another;
  await sleep(another.fromMs);
  return "valid";
}
