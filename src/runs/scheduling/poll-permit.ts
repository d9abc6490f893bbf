/** The wait of one poll for its permit. */

import { type RateLimit, reservePermits } from "../../store/rate-limiter.ts";
import type { ResearchDeps } from "../deps.ts";

/** A poll whose permit is further ahead is put back, so that none waits long in memory. */
export const MAX_AHEAD_MS = 2_000;
/** Together with the share of the rate that is used, polls this late stay below 110 % of the rate in any second. */
const MAX_LATE_MS = 100;

/**
 * Waits until the permit is valid. A process that was suspended or too busy to use its permit in time reserves another
 * one, once: late polls would add to the punctual ones of other processes. Not while permits are plentiful, because
 * each reservation is a statement. Returns how far ahead the other permit is if it is too far to wait for.
 */
export async function waitForPermit(
  { db, clock, leaving }: Pick<ResearchDeps, "db" | "clock" | "leaving">,
  { rate, permits, inMs, isScarce }: { rate: RateLimit; permits: number; inMs: number; isScarce: boolean },
): Promise<"valid" | { waitMs: number }> {
  const sleep = (ms: number): Promise<void> => clock.sleep(ms, leaving).catch(() => undefined);
  const validAt = clock.monotonic() + inMs;
  await sleep(inMs);
  if (!isScarce || leaving.aborted || clock.monotonic() - validAt <= MAX_LATE_MS) return "valid";
  // Without a database the poll is put back, and the others of its batch go on.
  const another = await reservePermits(db, rate, { permits, withinMs: MAX_AHEAD_MS }).catch(() => ({
    waitMs: MAX_AHEAD_MS,
  }));
  if ("waitMs" in another) return another;
  await sleep(another.fromMs);
  return "valid";
}
