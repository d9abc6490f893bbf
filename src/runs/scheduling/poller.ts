/** Interface between the runner and the pollers of both databases. */

import type { ResearchDeps } from "../deps.ts";

export interface Poller {
  /** Called only in a process that polls runs. */
  start(): Promise<void>;
  /** Starts due polls; does nothing where pg-boss delivers them. */
  pollDue(): Promise<void>;
  /** When `pollDue` has work next; undefined if unknown or never. */
  nextDueAt(): Promise<number | undefined>;
  /** Called every few seconds to repair what dead processes left behind. */
  sweep(): Promise<void>;
  inFlight(): number;
}

export interface PollerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** Sends pending notifications from the outbox; called whenever a run may have ended. */
  deliver: () => Promise<unknown>;
  /** Wakes the loop of the runner, because a run may be due earlier than expected. */
  wake: () => void;
}

export const logPollFailure = ({ log, leaving }: ResearchDeps, taskId: string, error: unknown): void => {
  if (leaving.aborted) return;
  log.forRun(taskId).warn(`Run ${taskId}: ${error instanceof Error ? error.message : "a poll failed"}`);
};
