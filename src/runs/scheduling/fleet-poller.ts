/** Polls runs on PostgreSQL, where pg-boss has one job per poll: each batch is settled in one transaction. */

import type { DistributedQueue, DuePoll } from "../../queue/distributed.ts";
import type { NextPoll } from "../../queue/queue.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Database } from "../../store/database.ts";
import { type RateLimit, reservePermit, reservePermits } from "../../store/rate-limiter.ts";
import { MAX_AHEAD_MS, waitForPermit } from "./poll-permit.ts";
import { polledKeys, pollKeyOf } from "../../store/processes.ts";
import { inDetachedTrace } from "../../telemetry/telemetry.ts";
import { pauseAllPolls, rateOf } from "./claim-store.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { pollRun, waitForKey } from "../poll/poll.ts";
import type { ResearchDeps } from "../deps.ts";
import { markUnknownStarts } from "../recovery/unknown-starts.ts";
import { fairIntervals, priorityOf } from "./fair-intervals.ts";
import {
  allPolledRuns,
  countByOwner,
  keysOfPolledRuns,
  readPolledRuns,
  endPolling,
  withoutKey,
} from "./fleet-store.ts";
import { POLLS_BEFORE_EXPIRED } from "../poll/ask.ts";
import type { PolledRun } from "../poll/polled-run.ts";
import { AGAIN, type Outcome, type PollSpeed } from "../poll/outcome.ts";
import { logPollFailure, type Poller, type PollerOptions } from "./poller.ts";
import { recordSeenOfMany } from "../poll/seen-store.ts";

/** A batch takes its permits with one update and is settled in one transaction. */
const MAX_BATCH = 100;
/** Enough that Google's response time does not keep a worker below a low rate. */
const MIN_BATCH = 4;
/** Each poll of such a batch reserves the permits of all requests that a 404 can take. */
const MAX_SLOW_BATCH = 32;
/** The share of the rate in one batch: an owner with few runs waits for the batches reserved before its own. */
const BATCH_MS = 60;
/** The permits of a batch end within this time, or its jobs would expire before the last poll. */
const MAX_BATCH_MS = 8_000;
/** Delay of a batch without permits, because pg-boss fetches again at once after a full batch. */
const NO_PERMIT_DELAY_MS = 500;
/** The share of the allowed rate that is used: polls that are sent a little late add to the punctual ones. */
const USED_RATE = 0.94;
/** How often the runs of each owner are counted. */
const COUNT_MS = 3_000;
const MAX_WITHOUT_KEY = 100;

/** The result of one job. Without `outcome` and `putBack` its run is no longer polled. */
interface Polled {
  poll: DuePoll;
  run?: PolledRun;
  outcome?: Outcome;
  /** The poll got no permit and is due again after this time. */
  putBack?: { afterMs: number; isSlow: boolean };
}

export interface FleetPollerOptions extends PollerOptions {
  queue: DistributedQueue;
}

/** Context shared by polling, settling and repairing. */
interface Fleet {
  deps: ResearchDeps;
  queue: DistributedQueue;
  key: string;
  rate: RateLimit;
  owners: Owners;
  pollIntervalMs: number;
}

export function createFleetPoller(options: FleetPollerOptions): Poller {
  const { deps, queue, deliver, pollIntervalMs } = options;
  const { db, clock } = deps;
  const key = pollKeyOf(deps.agent.fingerprint);
  const rate = { name: rateOf(db, key), perSecond: options.maxRps * USED_RATE };
  const owners = createOwners({ deps, key, rate, pollIntervalMs });
  const fleet: Fleet = { deps, queue, key, rate, owners, pollIntervalMs };
  const heartbeat = createHeartbeat(deps);
  let inFlight = 0;

  const poll = async (due: DuePoll[], speed: PollSpeed): Promise<ReadonlySet<string>> => {
    inFlight += due.length;
    try {
      const polled = await pollBatch(fleet, due, speed);
      const pauseMs = Math.max(0, ...polled.map(({ outcome }) => outcome?.pauseMs ?? 0));
      if (pauseMs > 0) await pauseAllPolls(db, { ms: pauseMs, now: clock.now() }, key);
      const settled = await settle(fleet, polled);
      if (polled.some(({ outcome }) => outcome?.recorded)) void deps.during(deliver()).catch(() => undefined);
      return settled;
    } finally {
      inFlight -= due.length;
    }
  };

  return {
    start: async () => {
      const checkStart = (taskId: string): Promise<number | undefined> => markUnknownStarts(deps, taskId);
      await heartbeat.start();
      // Not the full repair: workers with other keys may still be starting.
      await scheduleAll(fleet);
      await queue.work({ key, ...batchSizes(rate), poll, checkStart, repair: () => repair(fleet) });
    },
    pollDue: async () => {},
    nextDueAt: async () => undefined,
    sweep: () => heartbeat.beat(),
    inFlight: () => inFlight,
  };
}

function batchSizes({ perSecond }: RateLimit): { batchSize: number; slowBatchSize: number } {
  const wanted = Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.ceil((perSecond * BATCH_MS) / 1_000)));
  return {
    batchSize: Math.max(1, Math.min(wanted, Math.floor((perSecond * MAX_BATCH_MS) / 1_000))),
    slowBatchSize: Math.min(MAX_SLOW_BATCH, Math.ceil(perSecond / 2)),
  };
}

async function pollBatch(fleet: Fleet, due: DuePoll[], speed: PollSpeed): Promise<Polled[]> {
  const { deps, rate, owners } = fleet;
  failpoint("after-claim");
  const taskIds = due.map(({ taskId }) => taskId);
  const runs = await readPolledRuns(deps.db, taskIds);
  await owners.refresh();
  const known = taskIds.flatMap((taskId) => runs.get(taskId) ?? []);
  const requests = speed === "slow" ? POLLS_BEFORE_EXPIRED : 1;
  const needed = known.length * requests;
  const permits =
    needed === 0 ? { fromMs: 0 } : await reservePermits(deps.db, rate, { permits: needed, withinMs: MAX_AHEAD_MS });
  if ("waitMs" in permits) await deps.clock.sleep(NO_PERMIT_DELAY_MS, deps.leaving).catch(() => undefined);
  // In batch order, in which owners with few runs come first.
  const offsets = new Map(known.map((run, n) => [run, (n * requests * 1_000) / rate.perSecond]));
  return Promise.all(
    due.map(async (poll): Promise<Polled> => {
      const run = runs.get(poll.taskId);
      if (run === undefined) return { poll };
      const offset = offsets.get(run) ?? 0;
      const permit =
        "waitMs" in permits
          ? permits
          : await waitForPermit(deps, {
              rate,
              permits: requests,
              inMs: permits.fromMs + offset,
              isScarce: permits.fromMs > 0,
            });
      if (permit !== "valid") {
        const afterMs = permit.waitMs - MAX_AHEAD_MS / 2 + offset;
        return { poll, run, putBack: { afterMs, isSlow: speed === "slow" } };
      }
      return { poll, run, outcome: await pollNow(deps, run, speed) };
    }),
  );
}

async function pollNow(deps: ResearchDeps, run: PolledRun, speed: PollSpeed): Promise<Outcome> {
  if (deps.leaving.aborted) return { next: { afterMs: 0 } };
  return inDetachedTrace(run.taskId, () => pollRun(deps, run, speed)).catch((error: unknown) => {
    logPollFailure(deps, run.taskId, error);
    return AGAIN;
  });
}

/** Stores what was seen, completes the jobs and schedules the next polls in one transaction. */
const settle = (fleet: Fleet, polled: Polled[]): Promise<Set<string>> =>
  fleet.deps.db.transaction().execute(async (transaction) => {
    const polls = polled.map(({ poll }) => poll);
    const settled = await fleet.queue.release(transaction, polls);
    const ours = polled.filter(({ poll }) => settled.has(poll.taskId));
    await recordSeenOfMany(
      transaction,
      ours.flatMap(({ poll: { taskId }, outcome }) =>
        outcome?.seen === undefined ? [] : [{ taskId, seen: outcome.seen }],
      ),
    );
    const next = ours.flatMap((one) => nextPollOf(fleet, one));
    await fleet.queue.schedule(transaction, [...next, ...(await endLastPolls(transaction, ours))]);
    return settled;
  });

function nextPollOf({ owners, key }: Fleet, { poll: { taskId }, run, outcome, putBack }: Polled): NextPoll[] {
  const { intervalMs, priority } = owners.of(run?.owner ?? "");
  const common = { taskId, key, priority };
  if (putBack !== undefined) return [{ ...common, ...putBack }];
  if (outcome === undefined || outcome.next === "never") return [];
  const { next } = outcome;
  if (next === "slow") return [{ ...common, isSlow: true }];
  return [{ ...common, afterMs: next === "interval" ? intervalMs * (0.95 + Math.random() * 0.1) : next.afterMs }];
}

/** Runs once a minute in one process of the fleet. */
async function repair(fleet: Fleet): Promise<void> {
  await scheduleAll(fleet);
  await checkRunsWithoutKey(fleet);
  // Also those whose scheduled check has failed too often.
  await markUnknownStarts(fleet.deps);
}

/** Schedules a poll for every run without one; existing jobs are kept. */
async function scheduleAll({ deps, queue, owners, pollIntervalMs }: Fleet): Promise<void> {
  await owners.refresh();
  const polls = (await allPolledRuns(deps.db)).map(({ taskId, key, owner }) => {
    const { priority } = owners.of(owner);
    return { taskId, key, priority, afterMs: Math.random() * pollIntervalMs };
  });
  if (polls.length > 0) await queue.schedule(deps.db, polls);
}

/** Ends polling of runs whose last poll this was. Returns those that a user has reopened in the meantime. */
async function endLastPolls(transaction: Database, polled: Polled[]): Promise<NextPoll[]> {
  const last = polled.filter(({ outcome, putBack }) => putBack === undefined && (outcome?.next ?? "never") === "never");
  if (last.length === 0) return [];
  await endPolling(
    transaction,
    last.flatMap(({ run, outcome }) => (run === undefined || outcome?.recorded === true ? [] : [run])),
  );
  return keysOfPolledRuns(
    transaction,
    last.map(({ poll }) => poll.taskId),
  );
}

/** Runs whose key no process has are not polled, but still end at their deadline. */
async function checkRunsWithoutKey({ deps, key, rate }: Fleet): Promise<void> {
  const { db, clock, leaving } = deps;
  const keys = [key, ...(await polledKeys(db, clock.now()))];
  for (const run of await withoutKey(db, { keys, now: clock.now(), limit: MAX_WITHOUT_KEY })) {
    if (leaving.aborted) return;
    const isAsked = clock.now() >= run.deadlineAt;
    if (isAsked) await clock.sleep(await reservePermit(db, rate, clock.now()), leaving);
    const { next, recorded, seen } = await waitForKey(deps, run);
    if (seen !== undefined) await recordSeenOfMany(db, [{ taskId: run.taskId, seen }]);
    if (next === "never" && recorded !== true) await endPolling(db, [run]);
  }
}

type Owners = ReturnType<typeof createOwners>;

function createOwners({ deps, key, rate, pollIntervalMs }: Omit<Fleet, "owners" | "queue">) {
  const { db, clock } = deps;
  let runsOf: ReadonlyMap<string, number> = new Map();
  let intervals: ReadonlyMap<string, number> = new Map();
  let countedAt = -Infinity;
  return {
    refresh: async (): Promise<void> => {
      if (Math.abs(clock.monotonic() - countedAt) < COUNT_MS) return;
      countedAt = clock.monotonic();
      runsOf = await countByOwner(db, key);
      intervals = fairIntervals({ runsOf, rate: rate.perSecond, minIntervalMs: pollIntervalMs });
    },
    of: (owner: string): { intervalMs: number; priority: number } => ({
      intervalMs: intervals.get(owner) ?? pollIntervalMs,
      priority: priorityOf(runsOf.get(owner) ?? 1),
    }),
  };
}
