/** How often somebody may come: a bucket per key that refills with time, in bounded memory. */

import { refuse } from "./error-response.ts";

export interface BucketOptions {
  perMinute: number;
  /** Milliseconds that never go back. */
  now?: () => number;
  /** How many keys are remembered; the one that was quiet for longest goes first, and its bucket is the fullest. */
  mostKeys?: number;
}

/** Takes one from the bucket of a key: 0, or the milliseconds until there is one again. */
export type TakeFromBucket = (key: string) => number;

const MINUTE_MS = 60_000;
const MOST_KEYS = 10_000;

export function createBuckets({
  perMinute,
  now = () => performance.now(),
  mostKeys = MOST_KEYS,
}: BucketOptions): TakeFromBucket {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = now();
    const before = buckets.get(key) ?? { left: perMinute, at };
    const refilled = Math.min(perMinute, before.left + ((at - before.at) * perMinute) / MINUTE_MS);
    const allowed = refilled >= 1;
    // Taken out and put back, so that the map is in order of last use.
    buckets.delete(key);
    buckets.set(key, { left: allowed ? refilled - 1 : refilled, at });
    if (buckets.size > mostKeys) forgetOldest(buckets);
    return allowed ? 0 : ((1 - refilled) * MINUTE_MS) / perMinute;
  };
}

function forgetOldest(buckets: Map<string, unknown>): void {
  const [oldest] = buckets.keys();
  if (oldest !== undefined) buckets.delete(oldest);
}

export type RateLimit = (key: string) => Response | undefined;

/** Per user; 0 a minute is no limit. */
export function createRateLimit(options: BucketOptions): RateLimit {
  if (options.perMinute === 0) return () => undefined;
  const take = createBuckets(options);
  return (key) => {
    const waitMs = take(key);
    if (waitMs === 0) return undefined;
    return tooMany(waitMs, `There were more than ${options.perMinute} requests in a minute.`);
  };
}

export function tooMany(waitMs: number, message: string): Response {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return refuse({
    status: 429,
    code: "RATE_LIMITED",
    message,
    suggestion: `Try again in ${seconds} s.`,
    headers: { "Retry-After": String(seconds) },
  });
}
