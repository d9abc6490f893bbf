/** Drives background runs in one process: recovery sweeps, polls and progress streams. */

import { AppError } from "../../errors.ts";
import { isDistributed } from "../../queue/distributed.ts";
import { inDetachedTrace } from "../../telemetry/telemetry.ts";
import type { ResearchDeps } from "../deps.ts";
import { saveReportsDuringOutage } from "../recovery/database-outage.ts";
import { sweep } from "../recovery/sweep.ts";
import { pendingStarts } from "../start/start-store.ts";
import { followStream } from "../streams/stream.ts";
import { createWatchedStreams, type Watch } from "../streams/watched-streams.ts";
import { countPolledRuns, pollNow } from "./claim-store.ts";
import { createFleetPoller } from "./fleet-poller.ts";
import { createLocalPoller } from "./local-poller.ts";
import type { Poller } from "./poller.ts";

export interface RunnerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** False in a process that only makes repairs and does not poll. */
  makesPolls?: boolean | undefined;
  /** Sends pending notifications from the outbox; called whenever a run may have ended. */
  deliver: () => Promise<unknown>;
}

export interface Runner {
  /** Resumes the runs of earlier processes, then works until the process shuts down. */
  start(): void;
  /** Streams this run's progress, and polls it soon. */
  watch: Watch;
  /** Wakes the loop, because something became due after it went to sleep. */
  wake(): void;
  /** Brings the next poll of this run forward, because a caller waits for it. */
  pollNow(taskId: string): Promise<void>;
  /** The number of runs that are polled. */
  count(): Promise<number>;
  /** True when there is nothing to poll and nothing in flight. */
  idle(): Promise<boolean>;
}

/** Bounds how long the death of a process on this machine goes unnoticed. */
const SWEEP_MS = 5_000;
const MIN_SLEEP_MS = 50;
/** Consecutive failed rounds that count as an outage; a single one may be transient. */
const FAILURES_BEFORE_OUTAGE = 2;
/** Retry delays of `pollNow`, because a poll in flight cannot be brought forward. */
const POLL_NOW_RETRY_MS = [300, 700, 1_500];

export function createRunner(options: RunnerOptions): Runner {
  const { deps, maxRps, makesPolls = true } = options;
  const { db, clock, leaving, log, pollCounts, queue } = deps;
  const sleeper = createSleeper(deps);
  const polling = { ...options, wake: sleeper.wake };
  const poller = isDistributed(queue) ? createFleetPoller({ ...polling, queue }) : createLocalPoller(polling);
  const sweeper = createSweeper(options, poller);
  let started = false;

  const sleepUntilDue = async (): Promise<void> => {
    const due = makesPolls ? await poller.nextDueAt() : undefined;
    // A sweep must not be late when the loop is woken in between.
    await sleeper.sleepUntil(Math.min(due ?? Infinity, sweeper.dueAt()));
  };

  const loop = async (): Promise<void> => {
    let failures = 0;
    while (!leaving.aborted) {
      try {
        await sweeper.sweepIfDue();
        if (makesPolls) await poller.pollDue();
        failures = 0;
        await sleepUntilDue();
      } catch (error) {
        if (leaving.aborted) return;
        pollCounts.add("database");
        // An outage may last for hours; a round fails every few seconds.
        if (failures === 0) logFault(log, error);
        failures += 1;
        if (error instanceof AppError && failures >= FAILURES_BEFORE_OUTAGE) await sweeper.saveReports();
        await clock.sleep(SWEEP_MS, leaving).catch(() => undefined);
      }
    }
  };

  const watch = createWatchedStreams({
    follow: (run, signal) => inDetachedTrace(run.taskId, () => followStream(deps, run, { signal, maxRps })),
    onChange: sleeper.wake,
    leaving,
  });

  return {
    start: () => {
      if (started) return;
      started = true;
      void inDetachedTrace(undefined, loop);
      if (makesPolls) void inDetachedTrace(undefined, () => startPoller(deps, poller));
    },
    wake: sleeper.wake,
    pollNow: (taskId) => bringForward(deps, taskId, sleeper.wake),
    count: () => countPolledRuns(db),
    idle: async () =>
      poller.inFlight() === 0 &&
      sweeper.hasSwept() &&
      (await countPolledRuns(db)) === 0 &&
      (await pendingStarts(db)).length === 0,
    watch,
  };
}

async function bringForward(deps: ResearchDeps, taskId: string, wake: () => void): Promise<void> {
  for (const ms of POLL_NOW_RETRY_MS) {
    const isBroughtForward = await pollNow(deps, taskId);
    wake();
    if (isBroughtForward) return;
    await deps.clock.sleep(ms, deps.leaving).catch(() => undefined);
  }
  await pollNow(deps, taskId);
}

/** Sleeps until a time, until something becomes due earlier, or until the process shuts down. */
function createSleeper({ clock, leaving }: Pick<ResearchDeps, "clock" | "leaving">) {
  let sleeping = new AbortController();
  const wake = (): void => sleeping.abort();
  leaving.addEventListener("abort", wake, { once: true });
  return {
    wake,
    sleepUntil: async (time: number): Promise<void> => {
      const ms = Math.min(SWEEP_MS, Math.max(MIN_SLEEP_MS, time - clock.now()));
      if (!leaving.aborted) await clock.sleep(ms, sleeping.signal).catch(() => undefined);
      sleeping = new AbortController();
    },
  };
}

/** Sweeps every few seconds. */
function createSweeper({ deps, deliver }: RunnerOptions, poller: Poller) {
  const { clock } = deps;
  const savedToFile = new Set<string>();
  const options = { deps, deliver, savedToFile, repairPolls: () => poller.sweep() };
  let sweptAt = 0;
  let hasSwept = false;
  return {
    sweepIfDue: async (): Promise<void> => {
      const sinceLast = clock.now() - sweptAt;
      // Negative when the clock was set back, in which case the poll times need repair.
      if (sinceLast >= 0 && sinceLast < SWEEP_MS) return;
      sweptAt = clock.now();
      await sweep(options);
      hasSwept = true;
    },
    dueAt: (): number => sweptAt + SWEEP_MS,
    hasSwept: (): boolean => hasSwept,
    saveReports: (): Promise<void> => saveReportsDuringOutage(deps, savedToFile).catch(() => undefined),
  };
}

/** Retries until the job queue can be reached. */
async function startPoller({ clock, log, leaving }: ResearchDeps, poller: Poller): Promise<void> {
  while (!leaving.aborted) {
    try {
      return await poller.start();
    } catch (error) {
      logFault(log, error);
      await clock.sleep(SWEEP_MS, leaving).catch(() => undefined);
    }
  }
}

const logFault = (log: ResearchDeps["log"], error: unknown): void =>
  log.warn(`Polling runs failed and is tried again: ${error instanceof Error ? error.message : "unknown error"}`);
