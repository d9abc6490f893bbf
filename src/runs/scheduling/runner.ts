/** Follows background runs: has them polled, streams progress for watched ones, and keeps order. No leader. */

import { AppError } from "../../errors.ts";
import { isDistributed } from "../../queue/distributed.ts";
import { isShared } from "../../store/dialect.ts";
import { inDetachedTrace } from "../../telemetry/telemetry.ts";
import { hasAttempt } from "../attempt-store.ts";
import { countFollowed, pollNow } from "./claim-store.ts";
import { flushUnchargedFailures } from "../recovery/uncharged-starts.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { importOrphanedIds } from "../recovery/orphaned-ids.ts";
import { createFleetPoller } from "./fleet-poller.ts";
import { createLocalPoller } from "./local-poller.ts";
import { setAsideUnreadable } from "../history/unreadable-store.ts";
import { markInterruptedSearches } from "../recovery/interrupted-searches.ts";
import { rescueFollowed, rescueReports } from "../recovery/database-outage.ts";
import type { ResearchDeps } from "../deps.ts";
import { takeUnreadable } from "../unreadable.ts";
import { pendingStarts } from "../start/start-store.ts";
import { followStream } from "../streams/stream.ts";
import { createWatchedStreams, type Watch } from "../streams/watched-streams.ts";

export interface RunnerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** False: this process only keeps order, and leaves the polls to others. */
  follows?: boolean | undefined;
  /** Sends what the outbox holds; called whenever a run may have ended. */
  deliver: () => Promise<unknown>;
}

export interface Runner {
  /** Takes up what earlier processes left, then goes on until the process leaves. */
  start(): void;
  /** Streams this run's progress, and polls it soon. */
  watch: Watch;
  /** Something is due that was not when it went to sleep. */
  wake(): void;
  /** A caller waits for what Google says about this run. */
  pollNow(taskId: string): Promise<void>;
  /** Unfinished runs that are being followed. */
  count(): Promise<number>;
  /** Nothing is left to follow, and nothing is being done. */
  idle(): Promise<boolean>;
}

/** How long a dead process's work can go unnoticed on this machine. */
const SWEEP_MS = 5_000;
const SHORTEST_SLEEP_MS = 50;
/** Rounds in a row that the database refused. One is a passing fault, and no reason to ask Google out of turn. */
const REFUSED_FOR_GOOD = 2;
/** Another poll may be in flight, which cannot be brought forward: it takes so long at most, but for slow answers. */
const POLL_NOW_AGAIN_MS = [300, 700, 1_500];

export function createRunner(options: RunnerOptions): Runner {
  const { deps, maxRps, deliver, follows = true } = options;
  const { db, clock, log, leaving, queue } = deps;
  let faultAt = -Infinity;
  let checkedAt = -Infinity;
  let sweptAt = 0;
  let swept = false;
  let started = false;
  let wake: () => void = () => {};

  const polling = { ...options, wake: () => wake() };
  const poller = isDistributed(queue) ? createFleetPoller({ ...polling, queue }) : createLocalPoller(polling);

  const sweep = async (): Promise<void> => {
    const sinceLast = clock.now() - sweptAt;
    // Less than nothing: the clock was set back, and the times of the polls have to be brought forward.
    if (sinceLast >= 0 && sinceLast < SWEEP_MS) return;
    sweptAt = clock.now();
    if (!swept || faultAt > checkedAt) await setAside();
    await importOrphanedIds(db, { directory: deps.stateDir, log, now: clock.now(), queue });
    if (deps.unsavedIds.size > 0) await retryUnsavedIds();
    await flushUnchargedFailures(deps);
    await poller.sweep();
    // On a machine of its own a dead search is seen at the next start; one of another only when its lease has ended.
    if (isShared(db)) await markInterruptedSearches(db, log, clock.now());
    await deliver();
    reportUnreadable(log);
    swept = true;
  };

  /** Once, and whenever the database could not be read or written: figures that stop everybody may be the reason. */
  const setAside = async (): Promise<void> => {
    checkedAt = clock.now();
    for (const taskId of await setAsideUnreadable(db)) {
      log.forRun(taskId).warn(`Run ${taskId}: its stored token counts or cost cannot be true and are unknown now.`);
    }
  };

  const rescued = new Set<string>();
  /** An id that could be stored meanwhile is followed like any other. */
  const retryUnsavedIds = async (): Promise<void> => {
    for (const { taskId, attemptId, interactionId } of deps.unsavedIds.values()) {
      const save = async (): Promise<boolean> =>
        (await saveInteractionId(db, { attemptId, interactionId, now: clock.now() }, queue)) ||
        // The import of orphans was faster. A database without the attempt is another one, and does not have the id.
        (await hasAttempt(db, attemptId));
      if (await save().catch(() => false)) deps.unsavedIds.delete(taskId);
    }
    if (deps.unsavedIds.size > 0) await rescueReports(deps, rescued);
  };

  const loop = async (): Promise<void> => {
    let refused = 0;
    while (!leaving.aborted) {
      try {
        await sweep();
        if (follows) await poller.pollDue();
        refused = 0;
        await sleepUntilDue();
      } catch (error) {
        if (leaving.aborted) return;
        faultAt = clock.now();
        deps.pollCounts.add("database");
        log.warn(`Following research runs: ${error instanceof Error ? error.message : "a fault"}; going on.`);
        refused += 1;
        if (error instanceof AppError && refused >= REFUSED_FOR_GOOD)
          await rescueFollowed(deps, rescued).catch(() => undefined);
        await clock.sleep(SWEEP_MS, leaving).catch(() => undefined);
      }
    }
  };

  const sleepUntilDue = async (): Promise<void> => {
    const sleeping = new AbortController();
    wake = () => sleeping.abort();
    const now = clock.now();
    const due = follows ? await poller.nextDueAt() : undefined;
    // Woken in between, it must not sleep past its next sweep: a dead process is noticed within that time.
    const next = Math.min(due ?? Infinity, sweptAt + SWEEP_MS);
    const ms = Math.min(SWEEP_MS, Math.max(SHORTEST_SLEEP_MS, next - now));
    if (!leaving.aborted) await clock.sleep(ms, sleeping.signal).catch(() => undefined);
  };
  leaving.addEventListener("abort", () => wake(), { once: true });

  /** An engine that cannot be reached now is tried again. */
  const startPoller = async (): Promise<void> => {
    while (!leaving.aborted) {
      try {
        return await poller.start();
      } catch (error) {
        log.warn(`Following research runs: ${error instanceof Error ? error.message : "a fault"}; going on.`);
        await clock.sleep(SWEEP_MS, leaving).catch(() => undefined);
      }
    }
  };

  const watch = createWatchedStreams({
    follow: (run, signal) => inDetachedTrace(run.taskId, () => followStream(deps, run, { signal, maxRps })),
    onChange: () => wake(),
    leaving,
  });

  return {
    start: () => {
      if (started) return;
      started = true;
      void inDetachedTrace(undefined, loop);
      if (follows) void inDetachedTrace(undefined, startPoller);
    },
    wake: () => wake(),
    pollNow: async (taskId) => {
      let isForward = await pollNow(deps, taskId);
      for (const ms of POLL_NOW_AGAIN_MS) {
        wake();
        if (isForward) return;
        await clock.sleep(ms, leaving).catch(() => undefined);
        isForward = await pollNow(deps, taskId);
      }
    },
    count: () => countFollowed(db),
    idle: async () =>
      poller.inFlight() === 0 && swept && (await countFollowed(db)) === 0 && (await pendingStarts(db)).length === 0,
    watch,
  };
}

function reportUnreadable(log: ResearchDeps["log"]): void {
  for (const taskId of takeUnreadable()) {
    log
      .forRun(taskId)
      .warn(`Run ${taskId}: what is stored about it is damaged. It is left out; other runs are not affected.`);
  }
}
