/** Drives background runs in one process: recovery sweeps every few seconds, polls and progress streams. */

import { AppError } from "../../errors.ts";
import type { ResearchDeps } from "../deps.ts";
import { releaseFiles } from "../file-store.ts";
import { endExpiredPlans } from "../plan/decide.ts";
import { saveReportsDuringOutage, saveReportsOfUnsavedRuns } from "../recovery/database-outage.ts";
import { markInterruptedSearches } from "../recovery/dead-processes.ts";
import { importOrphanedIds } from "../recovery/orphaned-ids.ts";
import { flushUnchargedFailures, saveUnsavedIds } from "../recovery/unsettled-starts.ts";
import { pendingStarts } from "../start/start-store.ts";
import { followStream } from "../streams/stream.ts";
import { createWatchedStreams, type Watch } from "../streams/watched-streams.ts";
import { countPolledRuns, pollNow, runOfInteraction } from "./polled-store.ts";
import { createPoller, type Poller } from "./poller.ts";

export interface RunnerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** False in a process that only makes repairs and does not poll. */
  makesPolls?: boolean | undefined;
  /** Sends pending notifications from the outbox; called whenever a run may have ended. */
  deliver: () => Promise<unknown>;
}

/** Starts the runs of schedules. */
export interface Scheduler {
  /** Starts what is due. */
  sweep(): Promise<void>;
  /** A search that it has started is in progress in this process, or the end of a run is not announced. */
  isBusy(): Promise<boolean>;
}

export interface Runner {
  /** Resumes the runs of earlier processes, then works until the process shuts down; with a scheduler, it starts runs, too. */
  start(scheduler?: Scheduler): void;
  /** Streams this run's progress, and polls it soon. */
  watch: Watch;
  /** Looks at once for what is due. */
  wake(): void;
  /** Brings the next poll of this run forward, because a caller waits for it. */
  pollNow(taskId: string): Promise<void>;
  /** The same for the run of this interaction, if it is one of ours that is not known to have ended. */
  pollInteraction(interactionId: string): Promise<void>;
  /** The number of runs that are polled. */
  count(): Promise<number>;
  /** True when there is nothing to poll and nothing in flight. */
  idle(): Promise<boolean>;
}

const SWEEP_MS = 5_000;
/** Consecutive failed rounds that count as an outage; a single one may be transient. */
const FAILURES_BEFORE_OUTAGE = 2;
/** An outage may last for hours; a round fails every few seconds. */
const LOG_AGAIN_MS = 60_000;
/** Retry delays of `pollNow`, because a poll in flight cannot be brought forward. */
const POLL_NOW_RETRY_MS = [300, 700, 1_500];

export function createRunner({ deps, pollIntervalMs, maxRps, makesPolls = true, deliver }: RunnerOptions): Runner {
  const { db, leaving } = deps;
  const savedToFile = new Set<string>();
  const onFault = createFaultHandler(deps, savedToFile);
  const poller = createPoller({ deps, pollIntervalMs, maxRps, deliver, onFault });
  let hasStarted = false;
  let hasSwept = false;
  let scheduler: Scheduler | undefined;

  /*
   * Repairs elsewhere: stale rows of processes and temporary files at start (compose-research.ts), claims of dead
   * processes by the engine (engine/), runs in memory while the database cannot be written (`onFault`).
   */
  const sweepOnce = async (): Promise<void> => {
    const { clock, log, queue, stateDir } = deps;
    await importOrphanedIds(db, { directory: stateDir, log, now: clock.now(), queue });
    await saveUnsavedIds(deps);
    await saveReportsOfUnsavedRuns(deps, savedToFile);
    await flushUnchargedFailures(deps);
    await endExpiredPlans(deps);
    await poller.sweep();
    await markInterruptedSearches(db, log, clock.now());
    await releaseFiles(db);
    await scheduler?.sweep();
    await deliver();
    hasSwept = true;
  };

  const watch = createWatchedStreams({
    follow: (run, signal) => followStream(deps, run, { signal, maxRps }),
    onChange: poller.wake,
    leaving,
  });

  return {
    start: (given) => {
      scheduler ??= makesPolls ? given : undefined;
      if (hasStarted) return;
      hasStarted = true;
      void sweepUntilLeaving(deps, sweepOnce, onFault);
      if (makesPolls) void startPoller(deps, poller, onFault);
    },
    wake: poller.wake,
    pollNow: (taskId) => bringForward(deps, taskId),
    pollInteraction: async (interactionId) => {
      const taskId = await runOfInteraction(db, interactionId);
      if (taskId !== undefined) await bringForward(deps, taskId);
    },
    count: () => countPolledRuns(db, deps.clock.now()),
    idle: async () =>
      poller.inFlight() === 0 &&
      hasSwept &&
      (await scheduler?.isBusy()) !== true &&
      (await countPolledRuns(db, deps.clock.now())) === 0 &&
      (await pendingStarts(db)).length === 0,
    watch,
  };
}

async function sweepUntilLeaving(
  { clock, leaving }: ResearchDeps,
  sweepOnce: () => Promise<void>,
  onFault: OnFault,
): Promise<void> {
  let failures = 0;
  while (!leaving.aborted) {
    try {
      await sweepOnce();
      failures = 0;
    } catch (error) {
      failures += 1;
      await onFault(error, failures);
    }
    await clock.sleep(SWEEP_MS, leaving).catch(() => undefined);
  }
}

async function bringForward(deps: ResearchDeps, taskId: string): Promise<void> {
  for (const ms of POLL_NOW_RETRY_MS) {
    if (await pollNow(deps, taskId)) return;
    await deps.clock.sleep(ms, deps.leaving).catch(() => undefined);
  }
  await pollNow(deps, taskId);
}

/** Retries until the job queue can be reached. */
async function startPoller({ clock, leaving }: ResearchDeps, poller: Poller, onFault: OnFault): Promise<void> {
  for (let failures = 1; !leaving.aborted; failures += 1) {
    try {
      return await poller.start();
    } catch (error) {
      await onFault(error, failures);
      await clock.sleep(SWEEP_MS, leaving).catch(() => undefined);
    }
  }
}

type OnFault = (error: unknown, inARow: number) => Promise<void>;

/** Logs a failed round. While the database cannot be used, finished reports are saved to files. */
function createFaultHandler(deps: ResearchDeps, savedToFile: Set<string>): OnFault {
  const { clock, log, leaving, pollCounts } = deps;
  let loggedAt = -Infinity;
  let saving: Promise<void> | undefined;
  return async (error, inARow) => {
    if (leaving.aborted) return;
    pollCounts.add("database");
    if (inARow === 1 && clock.monotonic() - loggedAt >= LOG_AGAIN_MS) {
      loggedAt = clock.monotonic();
      log.warn(`Polling runs failed and is tried again: ${error instanceof Error ? error.message : "unknown error"}`);
    }
    if (!(error instanceof AppError) || inARow < FAILURES_BEFORE_OUTAGE) return;
    saving ??= saveReportsDuringOutage(deps, savedToFile)
      .catch(() => undefined)
      .finally(() => (saving = undefined));
    await saving;
  };
}
