/** Polls runs on SQLite, where the table of runs is the queue: claims due runs and settles each poll in one write. */

import { failpoint } from "../../platform/failpoint.ts";
import { inDetachedTrace } from "../../telemetry/telemetry.ts";
import {
  resetFarPolls,
  claimWithinRateLimit,
  countPolledRuns,
  nextClaimAt,
  pauseAllPolls,
  settlePoll,
  type Settling,
} from "./claim-store.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { pollRun } from "../poll/poll.ts";
import { releaseDeadHolders } from "../recovery/dead-holders.ts";
import { markUnknownStarts } from "../recovery/unknown-starts.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import type { Outcome } from "../poll/outcome.ts";
import { logPollFailure, type Poller, type PollerOptions } from "./poller.ts";

/** Enough that Google's response time does not keep a worker below the allowed rate. */
const maxPollsAtOnce = (maxRps: number): number => Math.min(256, Math.max(8, Math.ceil(2 * maxRps)));
/** The longest delay beyond the interval, as for a wrong key or usage that arrives late. */
const MAX_DELAY_MS = 10 * 60_000;

export function createLocalPoller({ deps, pollIntervalMs, maxRps, deliver, wake }: PollerOptions): Poller {
  const { db, clock, processId } = deps;
  const maxPolls = maxPollsAtOnce(maxRps);
  const polling = new Set<string>();
  /** Polls that could not be settled yet; until then their leases block all processes. */
  const unsettled = new Map<PolledRun, Settling>();
  const heartbeat = createHeartbeat(deps);
  let running = 0;

  const interval = (): number => Math.max(pollIntervalMs, (running / maxRps) * 1_000);

  const settle = async (run: PolledRun, settling: Settling): Promise<void> => {
    unsettled.set(run, settling);
    await settlePoll(db, run, settling);
    unsettled.delete(run);
  };

  const poll = async (run: PolledRun): Promise<void> => {
    const outcome = await inDetachedTrace(run.taskId, () => pollRun(deps, run)).catch((error: unknown): Outcome => {
      logPollFailure(deps, run.taskId, error);
      return { next: "interval" };
    });
    try {
      if (outcome.recorded !== true) await settle(run, settlingOf(run, outcome, clock.now()));
    } finally {
      if (outcome.pauseMs !== undefined) await pauseAllPolls(db, { ms: outcome.pauseMs, now: clock.now() });
    }
    await deliver();
  };

  return {
    // The heartbeat is only informational here, so a read-only database is not an error.
    start: () => heartbeat.start().catch(() => undefined),
    pollDue: async () => {
      for (const [run, settling] of unsettled) await settle(run, settling);
      const limit = maxPolls - polling.size;
      const now = clock.now();
      // A claim that finds nothing would still wait for the write lock.
      if (limit <= 0 || ((await nextClaimAt(db, now)) ?? Infinity) > now) return;
      const nextPollAt = Math.round(now + interval() * (0.9 + Math.random() * 0.2));
      const claimed = await claimWithinRateLimit(db, { processId, limit, maxRps, now, nextPollAt });
      if (claimed.length > 0) failpoint("after-claim");
      for (const run of claimed) {
        polling.add(run.taskId);
        const polled = poll(run)
          .catch(() => undefined)
          .finally(() => {
            polling.delete(run.taskId);
            wake();
          });
        void deps.during(polled);
      }
    },
    nextDueAt: async () => (polling.size < maxPolls ? nextClaimAt(db, clock.now()) : undefined),
    sweep: async () => {
      await markUnknownStarts(deps);
      await releaseDeadHolders(deps);
      running = await countPolledRuns(db);
      const now = clock.now();
      await resetFarPolls(db, { now, latest: now + 2 * interval() + MAX_DELAY_MS });
      // A process with nothing to poll does not write to the file.
      if (running > 0) await heartbeat.beat();
    },
    inFlight: () => polling.size,
  };
}

/** For the next poll after the usual interval `nextPollAt` is undefined: the claim has stored that time. */
export function settlingOf(run: Pick<PolledRun, "status">, outcome: Outcome, now: number): Settling {
  const { next } = outcome;
  // Progress is stored only while the run is in progress.
  const seen = run.status === "running_async" ? outcome.seen : undefined;
  if (next === "never") return { nextPollAt: null, seen };
  return { nextPollAt: typeof next === "string" ? undefined : now + next.afterMs, seen };
}
