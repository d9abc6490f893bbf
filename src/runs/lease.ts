/** Lease durations: how long a process keeps a run without renewing its lease. */

import type { Liveness } from "../platform/process-identity.ts";

/** Renewed every 15 s. */
export const SEARCH_LEASE_MS = 60_000;
/** Longer than a start can take: its request times out after two minutes. */
export const START_LEASE_MS = 150_000;

/** A lease that ends implausibly far in the future was written before the clock was set back, and does not count. */
export const isHeld = (until: number, { now, lease }: { now: number; lease: number }): boolean =>
  until > now && until <= now + 2 * lease;

/** Whether no process runs the search any longer. For a process on another machine only the lease decides. */
export const isAbandoned = (holder: Liveness | undefined, until: number, now: number): boolean =>
  holder !== "alive" && !(holder === "unknown" && isHeld(until, { now, lease: SEARCH_LEASE_MS }));
