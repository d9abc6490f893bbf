/** What the runner needs of polling, whichever queue the polls are in. */

import type { ResearchDeps } from "../deps.ts";

export interface Poller {
  /** Only in a process that follows runs. */
  start(): Promise<void>;
  /** Begins the polls that are due and that no engine brings. */
  pollDue(): Promise<void>;
  /** When `pollDue` has something to do; undefined when it is not known to have. */
  nextDueAt(): Promise<number | undefined>;
  /** Every few seconds: what dead processes have left behind. */
  sweep(): Promise<void>;
  inFlight(): number;
}

export interface PollerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** Sends what the outbox holds; called whenever a run may have ended. */
  deliver: () => Promise<unknown>;
  /** Something may be due that was not. */
  wake: () => void;
}

export const warnOfPoll = ({ log, leaving }: ResearchDeps, taskId: string, error: unknown): void => {
  if (leaving.aborted) return;
  log.forRun(taskId).warn(`Run ${taskId}: ${error instanceof Error ? error.message : "a poll failed"}`);
};
