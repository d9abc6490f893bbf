/** Polls runs where an engine has one job per poll: a batch of jobs is polled, and settled in one transaction. */

import type { DistributedQueue, DuePoll } from "../../queue/distributed.ts";
import type { NextPoll } from "../../queue/queue.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Database } from "../../store/database.ts";
import { type RateLimit, reservePermit, reservePermits } from "../../store/rate-limiter.ts";
import { pollKeyOf } from "../../store/poll-key.ts";
import { polledKeys } from "../../store/processes.ts";
import { inDetachedTrace } from "../../telemetry/telemetry.ts";
import { pauseAllPolls, rateOf, SET_ASIDE_MS } from "./claim-store.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { pollRun, waitForKey } from "../poll/poll.ts";
import type { ResearchDeps } from "../deps.ts";
import { markUnknownStarts } from "../recovery/unknown-starts.ts";
import { fairIntervals, priorityOf } from "./fair-intervals.ts";
import { allFollowed, countByOwner, keysOfFollowed, readFollowed, unfollow, withoutKey } from "./fleet-store.ts";
import { POLLS_BEFORE_EXPIRED } from "../poll/ask.ts";
import type { FollowedRun } from "../poll/followed-run.ts";
import { AGAIN, type Outcome, type Patience } from "../poll/outcome.ts";
import { type Poller, type PollerOptions, warnOfPoll } from "./poller.ts";
import { recordSeenOfMany } from "../poll/seen-store.ts";

/** Jobs whose permit is further ahead are put back, so that none waits long in memory. */
const MAX_AHEAD_MS = 2_000;
/** What one batch may poll, at most: its permits are one update, its settlement one transaction. */
const MAX_BATCH = 100;
/** So many that Google's time to answer does not keep a worker below a low rate. */
const MIN_BATCH = 4;
/** Each of its polls has the permits of all requests that a 404 can take. */
const MAX_PATIENT_BATCH = 32;
/** Of the rate, in one batch: an owner with few runs waits for the batches that were reserved before its own. */
const BATCH_MS = 60;
/** The permits of a batch last no longer than this, or its jobs would expire before the last poll. */
const LONGEST_BATCH_MS = 8_000;
/** A batch without permits occupies its place for so long: the engine fetches after a full one at once. */
const WITHOUT_PERMITS_MS = 500;
/** Of the allowed rate: polls that a busy machine delays meet those that come in time. */
const PERMITTED = 0.94;
/** The owners and their runs are counted so often. */
const COUNT_MS = 3_000;
const MAX_WITHOUT_KEY = 100;

/** What became of one job; without an outcome its run is not followed any more. */
interface Polled {
  poll: DuePoll;
  run?: FollowedRun;
  outcome?: Outcome;
  /** It had no permit: the same poll again after so long. */
  putBack?: { afterMs: number; patient: boolean };
}

export interface FleetPollerOptions extends PollerOptions {
  queue: DistributedQueue;
}

export function createFleetPoller(options: FleetPollerOptions): Poller {
  const { deps, queue, deliver } = options;
  const maxRps = options.maxRps * PERMITTED;
  const { db, clock, leaving } = deps;
  const key = pollKeyOf(deps.agent.fingerprint);
  const rate = { name: rateOf(db, key), perSecond: maxRps };
  const owners = createOwners({ ...options, maxRps }, key);
  const heartbeat = createHeartbeat(deps);
  let inFlight = 0;

  const pollOne = async (run: FollowedRun, patience: Patience, waitMs: number): Promise<Outcome> => {
    if (waitMs > 0) await clock.sleep(waitMs, leaving).catch(() => undefined);
    if (leaving.aborted) return { next: { afterMs: 0 } };
    return inDetachedTrace(run.taskId, () => pollRun(deps, run, patience)).catch((error: unknown) => {
      warnOfPoll(deps, run.taskId, error);
      return AGAIN;
    });
  };

  const pollBatch = async (due: DuePoll[], patience: Patience): Promise<Polled[]> => {
    failpoint("after-claim");
    const runs = await readFollowed(
      db,
      due.map(({ taskId }) => taskId),
    );
    await owners.refresh();
    const followed = due.flatMap(({ taskId }) => {
      const run = runs.get(taskId);
      return run === undefined || run === "damaged" ? [] : [run];
    });
    const requests = patience === "patient" ? POLLS_BEFORE_EXPIRED : 1;
    const needed = followed.length * requests;
    const permits =
      needed === 0 ? { fromMs: 0 } : await reservePermits(db, rate, { permits: needed, withinMs: MAX_AHEAD_MS });
    if ("waitMs" in permits) await clock.sleep(WITHOUT_PERMITS_MS, leaving).catch(() => undefined);
    const turnOf = new Map(followed.map((run, n) => [run, (n * requests * 1_000) / maxRps]));
    return Promise.all(
      due.map(async (poll): Promise<Polled> => {
        const run = runs.get(poll.taskId);
        if (run === undefined) return { poll };
        if (run === "damaged") return { poll, outcome: { next: { afterMs: SET_ASIDE_MS } } };
        const place = turnOf.get(run) ?? 0;
        // In the order of the batch, in which owners with few runs come first.
        if ("waitMs" in permits) {
          const afterMs = permits.waitMs - MAX_AHEAD_MS / 2 + place;
          return { poll, run, putBack: { afterMs, patient: patience === "patient" } };
        }
        return { poll, run, outcome: await pollOne(run, patience, permits.fromMs + place) };
      }),
    );
  };

  const nextPollOf = ({ poll: { taskId }, run, outcome, putBack }: Polled): NextPoll[] => {
    const { intervalMs, priority } = owners.of(run?.owner ?? "");
    const common = { taskId, key, priority };
    if (putBack !== undefined) return [{ ...common, ...putBack }];
    if (outcome === undefined || outcome.next === "never") return [];
    const { next } = outcome;
    if (next === "slow") return [{ ...common, patient: true }];
    return [{ ...common, afterMs: next === "interval" ? intervalMs * (0.95 + Math.random() * 0.1) : next.afterMs }];
  };

  /** What was seen, the end of each poll and the beginning of the next are one transaction. */
  const settle = (polled: Polled[]): Promise<Set<string>> =>
    db.transaction().execute(async (transaction) => {
      const settled = await queue.release(
        transaction,
        polled.map(({ poll }) => poll),
      );
      const ours = polled.filter(({ poll }) => settled.has(poll.taskId));
      await recordSeenOfMany(
        transaction,
        ours.flatMap(({ poll: { taskId }, outcome }) =>
          outcome?.seen === undefined ? [] : [{ taskId, seen: outcome.seen }],
        ),
      );
      await queue.schedule(transaction, [...ours.flatMap(nextPollOf), ...(await followedAgain(transaction, ours))]);
      return settled;
    });

  const poll = async (due: DuePoll[], patience: Patience): Promise<ReadonlySet<string>> => {
    inFlight += due.length;
    try {
      const polled = await pollBatch(due, patience);
      const pauseMs = Math.max(0, ...polled.map(({ outcome }) => outcome?.pauseMs ?? 0));
      if (pauseMs > 0) await pauseAllPolls(db, { ms: pauseMs, now: clock.now() }, key);
      const settled = await settle(polled);
      if (polled.some(({ outcome }) => outcome?.recorded)) void deps.during(deliver()).catch(() => undefined);
      return settled;
    } finally {
      inFlight -= due.length;
    }
  };

  const scheduleAll = async (): Promise<void> => {
    await owners.refresh();
    const polls = (await allFollowed(db)).map(({ taskId, key: needed, owner }) => {
      const { priority } = owners.of(owner);
      return { taskId, key: needed, priority, afterMs: Math.random() * options.pollIntervalMs };
    });
    if (polls.length > 0) await queue.schedule(db, polls);
  };

  const repair = async (): Promise<void> => {
    await scheduleAll();
    await tendRunsWithoutKey(deps, key, rate);
    // Of starts without a check of their own, as those of an earlier version.
    await markUnknownStarts(deps);
  };

  return {
    start: async () => {
      const checkStart = (taskId: string): Promise<number | undefined> => markUnknownStarts(deps, taskId);
      const inBatch = Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.ceil((maxRps * BATCH_MS) / 1_000)));
      const batchSize = Math.max(1, Math.min(inBatch, Math.floor((maxRps * LONGEST_BATCH_MS) / 1_000)));
      const patientBatchSize = Math.min(MAX_PATIENT_BATCH, Math.ceil(maxRps / 2));
      await heartbeat.start();
      // Not the rest of the repair: workers with other keys may be about to start, too.
      await scheduleAll();
      await queue.work({ key, batchSize, patientBatchSize, poll, checkStart, repair });
    },
    pollDue: async () => {},
    nextDueAt: async () => undefined,
    sweep: () => heartbeat.beat(),
    inFlight: () => inFlight,
  };
}

/** Runs whose poll was the last one: one that a user has reopened meanwhile is polled on. */
async function followedAgain(transaction: Database, polled: Polled[]): Promise<NextPoll[]> {
  const last = polled.filter(({ outcome, putBack }) => putBack === undefined && (outcome?.next ?? "never") === "never");
  if (last.length === 0) return [];
  await unfollow(
    transaction,
    last.flatMap(({ run, outcome }) => (run === undefined || outcome?.recorded === true ? [] : [run])),
  );
  return keysOfFollowed(
    transaction,
    last.map(({ poll }) => poll.taskId),
  );
}

/** Their key is set in no process: nothing polls them, but their deadline counts. */
async function tendRunsWithoutKey(deps: ResearchDeps, ownKey: string, rate: RateLimit): Promise<void> {
  const { db, clock, leaving } = deps;
  const keys = [ownKey, ...(await polledKeys(db, clock.now()))];
  for (const run of await withoutKey(db, { keys, now: clock.now(), limit: MAX_WITHOUT_KEY })) {
    if (leaving.aborted) return;
    const isAsked = clock.now() >= run.deadlineAt;
    if (isAsked) await clock.sleep(await reservePermit(db, rate, clock.now()), leaving);
    const { next, recorded, seen } = await waitForKey(deps, run);
    if (seen !== undefined) await recordSeenOfMany(db, [{ taskId: run.taskId, seen }]);
    if (next === "never" && recorded !== true) await unfollow(db, [run]);
  }
}

function createOwners({ deps, pollIntervalMs, maxRps }: FleetPollerOptions, key: string) {
  const { db, clock } = deps;
  let runsOf: ReadonlyMap<string, number> = new Map();
  let intervals: ReadonlyMap<string, number> = new Map();
  let countedAt = -Infinity;
  return {
    refresh: async (): Promise<void> => {
      if (Math.abs(clock.monotonic() - countedAt) < COUNT_MS) return;
      countedAt = clock.monotonic();
      runsOf = await countByOwner(db, key);
      intervals = fairIntervals({ runsOf, rate: maxRps, minIntervalMs: pollIntervalMs });
    },
    of: (owner: string): { intervalMs: number; priority: number } => ({
      intervalMs: intervals.get(owner) ?? pollIntervalMs,
      priority: priorityOf(runsOf.get(owner) ?? 1),
    }),
  };
}
