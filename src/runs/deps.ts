/** Dependencies of background runs: the database, the agent, the queue, and the state of this process. */

import type { CostOf } from "../costs/actual.ts";
import type { Agent, AgentUsage, RemoteMcpServer } from "../gemini/research-agent.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Engine } from "./engine/engine.ts";
import type { Database } from "../store/database.ts";
import type { PollCounts } from "./poll/poll-counts.ts";
import type { StartLimits } from "./start/limits-store.ts";
import type { Run, UnsavedRun } from "./run.ts";
import type { StartFailure } from "./start/start-store.ts";

export interface ResearchDeps {
  db: Database;
  agent: Agent;
  queue: Engine;
  limits: StartLimits;
  processId: string;
  clock: Clock;
  log: Log;
  /** Replaces secrets in what is stored for diagnosis only. */
  redact: (text: string) => string;
  /** A server of the configuration with its secrets; throws if it is not configured or a secret of it is not set. */
  mcpServer: (name: string) => RemoteMcpServer;
  /** Directory of `orphans.jsonl`. */
  stateDir: string;
  /** Computes the cost of a run's usage at the prices that applied when it was started. */
  costOf: CostOf;
  /** Registers work that shutdown waits for, up to its time limit. */
  during: <T>(work: Promise<T>) => Promise<T>;
  leaving: AbortSignal;
  pollCounts: PollCounts;
  /** Writes a report that the database rejected to a file; resolves with its path. */
  backUp: (run: Pick<Run, "taskId" | "query">, report: string, usage?: AgentUsage) => Promise<string | undefined>;
  /** Started runs whose interaction id the database rejected, by task_id. */
  unsavedIds: Map<string, UnsavedRun>;
  /** Failed starts that were certainly not charged but could not be stored, by attempt id. */
  unchargedFailures: Map<string, StartFailure>;
  /** Shows a notification without the outbox, for when the outbox cannot be written. */
  notify: (notification: { title: string; body: string }) => Promise<unknown>;
}
