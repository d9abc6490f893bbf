/** Polls runs where their table is the queue: claims what is due, polls it, and settles each poll with one write. */

import { failpoint } from "../../platform/failpoint.ts";
import { inDetachedTrace } from "../../telemetry/telemetry.ts";
import {
  bringForward,
  claimWithinRateLimit,
  countFollowed,
  nextClaimAt,
  pauseAllPolls,
  settlePoll,
  type Settling,
} from "./claim-store.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { pollRun } from "../poll/poll.ts";
import { releaseDeadHolders } from "../recovery/dead-holders.ts";
import { markUnknownStarts } from "../recovery/unknown-starts.ts";
import type { FollowedRun } from "../poll/followed-run.ts";
import type { Outcome } from "../poll/outcome.ts";
import { type Poller, type PollerOptions, warnOfPoll } from "./poller.ts";

/** So many that Google's time to answer does not keep a worker below the rate it is allowed. */
const maxPollsAtOnce = (maxRps: number): number => Math.min(256, Math.max(8, Math.ceil(2 * maxRps)));
/** Beyond the interval, a poll is put off for a wrong key or for usage that comes late: minutes. */
const MAX_PUT_OFF_MS = 10 * 60_000;

export function createLocalPoller({ deps, pollIntervalMs, maxRps, deliver, wake }: PollerOptions): Poller {
  const { db, clock, processId } = deps;
  const maxPolls = maxPollsAtOnce(maxRps);
  const polling = new Set<string>();
  /** Polls that the database did not let settle: their leases would keep every process from polling again. */
  const unsettled = new Map<FollowedRun, Settling>();
  const heartbeat = createHeartbeat(deps);
  let running = 0;

  const interval = (): number => Math.max(pollIntervalMs, (running / maxRps) * 1_000);

  const settle = async (run: FollowedRun, settling: Settling): Promise<void> => {
    unsettled.set(run, settling);
    await settlePoll(db, run, settling);
    unsettled.delete(run);
  };

  const poll = async (run: FollowedRun): Promise<void> => {
    const outcome = await inDetachedTrace(run.taskId, () => pollRun(deps, run)).catch((error: unknown): Outcome => {
      warnOfPoll(deps, run.taskId, error);
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
    // `status` shows it. A database that can only be read does not take it, and needs none.
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
      running = await countFollowed(db);
      const now = clock.now();
      await bringForward(db, { now, furthest: now + 2 * interval() + MAX_PUT_OFF_MS });
      // One that has nothing to poll leaves the file alone.
      if (running > 0) await heartbeat.beat();
    },
    inFlight: () => polling.size,
  };
}

/** After an interval: that time is in the row since the claim. */
export function settlingOf(run: Pick<FollowedRun, "status">, outcome: Outcome, now: number): Settling {
  const { next } = outcome;
  // A run that has ended shows no progress any more.
  const seen = run.status === "running_async" ? outcome.seen : undefined;
  if (next === "never") return { nextPollAt: null, seen };
  return { nextPollAt: typeof next === "string" ? undefined : now + next.afterMs, seen };
}
