/** The outcome of a poll: what changed about the run, and when to poll it next. */

import type { Seen } from "./seen-store.ts";

export interface Outcome {
  /** `slow`: repeat as a slow poll. `never`: the run is no longer polled. */
  next: "interval" | "slow" | "never" | { afterMs: number };
  /** Undefined when nothing has changed. */
  seen?: Seen | undefined;
  /** Set when the end of the run and its next poll are already stored. */
  recorded?: true;
  /** Set after a 429: the pause for all processes that use this key. */
  pauseMs?: number;
}

export const AGAIN: Outcome = { next: "interval" };
export const NEVER: Outcome = { next: "never" };
/** The pause after a 429 without a Retry-After. */
export const RATE_LIMIT_MS = 30_000;
