/** How long whoever works on a run may be silent before another may take it. */

import type { Liveness } from "../platform/process-identity.ts";

/** A search says so again every 15 s. */
export const SEARCH_LEASE_MS = 60_000;
/** A look takes seconds; a process that dies in one is recognised sooner than this. */
export const POLL_LEASE_MS = 60_000;
/** Longer than a start can take: its request is given up after two minutes. */
export const START_LEASE_MS = 150_000;

/** Not when it ends further ahead than it ever lasts: then it was written before a clock was set back. */
export const isHeld = (until: number, { now, lease }: { now: number; lease: number }): boolean =>
  until > now && until <= now + 2 * lease;

/** Whether a search has nobody any more. Of a process on another machine only its lease tells. */
export const isAbandoned = (holder: Liveness | undefined, until: number, now: number): boolean =>
  holder !== "alive" && !(holder === "unknown" && isHeld(until, { now, lease: SEARCH_LEASE_MS }));
