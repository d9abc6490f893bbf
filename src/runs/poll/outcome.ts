/** What a poll found out: what changed about the run, and when to poll it next. */

import type { Seen } from "./seen-store.ts";

/** `quick` gives up on a slow answer and leaves it to a `patient` poll. */
export type Patience = "quick" | "patient";

export interface Outcome {
  /** `slow`: the same poll again, patiently. `never`: the run is not followed any more. */
  next: "interval" | "slow" | "never" | { afterMs: number };
  /** Undefined when nothing has changed but the time. */
  seen?: Seen | undefined;
  /** The run's end, and whether it is polled again, are in the database already. */
  recorded?: true;
  /** Google asks every process with this key to pause. */
  pauseMs?: number;
}

export const AGAIN: Outcome = { next: "interval" };
export const NEVER: Outcome = { next: "never" };
/** The pause that a 429 asks for without a time. */
export const RATE_LIMIT_MS = 30_000;
