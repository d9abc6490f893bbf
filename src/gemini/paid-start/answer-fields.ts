/** Reads single facts from an answer that may not be Google's. */

import type { Answer } from "./send-once.ts";

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_RETRY_AFTER_MS = 15 * 60_000;

/** Seconds or a date in the header, or Google's RetryInfo in the body. */
export function retryAfterMs({ headers, text }: Pick<Answer, "headers" | "text">): number | undefined {
  const header = headers.get("retry-after");
  const info = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  const seconds = header === null ? Number(info) : Number(header);
  const ms = Number.isNaN(seconds) && header !== null ? Date.parse(header) - Date.now() : seconds * 1_000;
  // Google says nanoseconds; parts of a millisecond do not matter here.
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, Math.ceil(ms)), MAX_RETRY_AFTER_MS);
}
