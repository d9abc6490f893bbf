/** Reads how long to wait after a rate-limited response. */

import type { HttpResponse } from "./send-once.ts";

const MAX_RETRY_AFTER_MS = 15 * 60_000;

/** The header holds seconds or a date; without a header, Google's RetryInfo in the body counts. */
export function retryAfterMs({ headers, text }: Pick<HttpResponse, "headers" | "text">): number | undefined {
  const header = headers.get("retry-after");
  const info = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  const seconds = header === null ? Number(info) : Number(header);
  const ms = Number.isNaN(seconds) && header !== null ? Date.parse(header) - Date.now() : seconds * 1_000;
  // Google sends nanoseconds; fractions of a millisecond are rounded up.
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, Math.ceil(ms)), MAX_RETRY_AFTER_MS);
}
