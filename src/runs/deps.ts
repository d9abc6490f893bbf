/** What the parts of a background run share: the store, the agent, and the process they live in. */

import type { CostOf } from "../costs/actual.ts";
import type { Agent } from "../gemini/research-agent.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { PollQueue } from "../queue/queue.ts";
import type { Database } from "../store/database.ts";
import type { PollCounts } from "../telemetry/poll-counts.ts";
import type { StartLimits } from "./start/limits-store.ts";
import type { StartFailure } from "./start/start-store.ts";

export interface UnsavedRun {
  taskId: string;
  attemptId: string;
  query: string;
  interactionId: string;
  enableNotifications: boolean;
}

export interface ResearchDeps {
  db: Database;
  agent: Agent;
  queue: PollQueue;
  limits: StartLimits;
  processId: string;
  clock: Clock;
  log: Log;
  /** Where `orphans.jsonl` is kept. */
  stateDir: string;
  /** What a run used, at the prices of when it was started. */
  costOf: CostOf;
  /** Work that the process waits for, within its limits, before it ends. */
  during: <T>(work: Promise<T>) => Promise<T>;
  leaving: AbortSignal;
  pollCounts: PollCounts;
  /** A report that the database refused goes to a file; resolves with its path. */
  backUp: (run: { taskId: string; query: string }, report: string) => Promise<string | undefined>;
  /** Started runs whose id the database refused, by task_id. */
  unsavedIds: Map<string, UnsavedRun>;
  /** Starts that surely cost nothing and whose end the database did not take, by attempt. */
  unchargedFailures: Map<string, StartFailure>;
  /** Shows a notification without the outbox, for when the outbox cannot be written. */
  tell: (notification: { title: string; body: string }) => Promise<unknown>;
}
