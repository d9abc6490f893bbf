/** Token-bucket rate limiter per key, in bounded memory. */

import { refuse } from "./error-response.ts";

export interface BucketOptions {
  perMinute: number;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Beyond this, the least recently used key is dropped: its bucket is the fullest. */
  maxKeys?: number;
}

/** Takes one from the bucket of a key. Returns 0, or the milliseconds until the next one is available. */
export type TakeFromBucket = (key: string) => number;

const MINUTE_MS = 60_000;
const MAX_KEYS = 10_000;

export function createBuckets({
  perMinute,
  now = () => performance.now(),
  maxKeys = MAX_KEYS,
}: BucketOptions): TakeFromBucket {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = now();
    const before = buckets.get(key) ?? { left: perMinute, at };
    const refilled = Math.min(perMinute, before.left + ((at - before.at) * perMinute) / MINUTE_MS);
    const allowed = refilled >= 1;
    // Deleted and re-inserted, so that the map is in order of last use.
    buckets.delete(key);
    buckets.set(key, { left: allowed ? refilled - 1 : refilled, at });
    if (buckets.size > maxKeys) dropOldest(buckets);
    return allowed ? 0 : ((1 - refilled) * MINUTE_MS) / perMinute;
  };
}

function dropOldest(buckets: Map<string, unknown>): void {
  const [oldest] = buckets.keys();
  if (oldest !== undefined) buckets.delete(oldest);
}

export type RateLimit = (key: string) => Response | undefined;

/** Per user; 0 per minute means no limit. */
export function createRateLimit(options: BucketOptions): RateLimit {
  if (options.perMinute === 0) return () => undefined;
  const take = createBuckets(options);
  return (key) => {
    const waitMs = take(key);
    if (waitMs === 0) return undefined;
    return tooMany(waitMs, `More than ${options.perMinute} requests in a minute.`);
  };
}

export function tooMany(waitMs: number, message: string): Response {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return refuse({
    status: 429,
    code: "BUSY",
    message,
    suggestion: `Try again in ${seconds} s.`,
    headers: { "Retry-After": String(seconds) },
  });
}
