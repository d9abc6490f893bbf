/**
 * Polls background runs: the same on both databases. The engine (`engine/engine.ts`) delivers what is due in batches.
 * For each batch, permits of the rate that all processes share are reserved, Google is asked, and all claims are settled
 * in one transaction, which schedules the next polls. The interval of a run depends on how many runs its owner has.
 *
 * On a shared database, once a minute one of all processes schedules every polled run again, in case a delivery was lost,
 * and checks the runs whose key no process has, and the starts without an answer.
 */

import type { Claim, Due, Engine, Lane } from "../engine/engine.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { lazy } from "../../platform/lazy.ts";
import { isShared } from "../../store/dialect.ts";
import { polledKeys, pollKeyOf, recordHeartbeat } from "../../store/processes.ts";
import { type RateLimit, reservePermit, reservePermits } from "../../store/rate-limiter.ts";
import type { ResearchDeps } from "../deps.ts";
import { POLLS_BEFORE_EXPIRED } from "../poll/ask.ts";
import { AGAIN, type Outcome, recordSeen } from "../poll/seen-store.ts";
import { polledRunOf, type Row } from "../run-row.ts";
import { markUnknownStarts } from "../recovery/unsettled-starts.ts";
import { MAX_AHEAD_MS, pausePolls, rateOf, waitForPermit } from "./permits.ts";
import {
  allPolledRuns,
  countByOwner,
  countPolledRuns,
  endPolling,
  keysOfPolledRuns,
  readPolledRuns,
  withoutKey,
} from "./polled-store.ts";

/** A batch takes its permits with one update and is settled in one transaction. */
const MAX_BATCH = 100;
/** Enough that Google's response time does not keep a worker below a low rate. */
const MIN_BATCH = 4;
/** Each poll of such a batch reserves the permits of all requests that a 404 can take. */
const MAX_SLOW_BATCH = 32;
/** The share of the rate in one batch: an owner with few runs waits for the batches reserved before its own. */
const BATCH_MS = 60;
/** The permits of a batch end within this time, or its claims would expire before the last poll. */
const MAX_BATCH_MS = 8_000;
/** Delay of a batch without permits, because the engine delivers again at once after a full batch. */
const NO_PERMIT_DELAY_MS = 500;
/** How often the runs of each owner are counted. */
const COUNT_MS = 3_000;
const HEARTBEAT_MS = 10_000;
const REPAIRS = { name: "repair", perSecond: 1 / 60 };
const MAX_WITHOUT_KEY = 100;

/** Loaded with the first poll: with what reads reports it takes 7 MB, and most servers of editors poll nothing. */
const polls = lazy(() => import("../poll/poll.ts"));

export interface PollerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** Sends pending notifications from the outbox; called whenever a run may have ended. */
  deliver: () => Promise<unknown>;
  /** A batch, or the search for what is due, failed for this many times in a row. */
  onFault: (error: unknown, inARow: number) => Promise<void>;
}

export interface Poller {
  /** Called only in a process that polls runs. */
  start(): Promise<void>;
  /** Looks at once for what is due. */
  wake(): void;
  /** Called every few seconds: unknown starts, the heartbeat, and on a shared database the repair. */
  sweep(): Promise<void>;
  /** Polls and notifications of runs that have ended. */
  inFlight(): number;
}

/** Context shared by polling, settling and repairing. */
interface Polling {
  deps: ResearchDeps;
  engine: Engine;
  key: string;
  rate: RateLimit;
  owners: Owners;
  pollIntervalMs: number;
}

/** The result of one claim. Without `outcome` and `putBack` its run is no longer polled. */
interface Polled {
  claim: Claim;
  row?: Row;
  outcome?: Outcome;
  /** The poll got no permit and is due again after this time. */
  putBack?: { afterMs: number; lane: Lane };
}

export function createPoller({ deps, pollIntervalMs, maxRps, deliver, onFault }: PollerOptions): Poller {
  const { db, clock, queue: engine } = deps;
  const key = pollKeyOf(deps.agent.fingerprint);
  const rate = rateOf(db, { key, maxRps });
  const owners = createOwners({ deps, key, rate, pollIntervalMs });
  const polling: Polling = { deps, engine, key, rate, owners, pollIntervalMs };
  const heartbeat = createHeartbeat(deps, key);
  const sizes = batchSizes(rate);
  // Enough that Google's response time does not keep a process below the allowed rate.
  const atOnce = { quick: Math.min(256, Math.max(8, Math.ceil(2 * maxRps))), slow: sizes.slow };
  const inFlight = { quick: 0, slow: 0 };
  let announcing = 0;
  let wake = (): void => {};

  const announce = async (): Promise<void> => {
    announcing += 1;
    await deliver().catch(() => undefined);
    announcing -= 1;
  };

  const handle = async (claims: Claim[], lane: Lane): Promise<void> => {
    inFlight[lane] += claims.length;
    try {
      const polled = await pollBatch(polling, claims, lane);
      const pauseMs = Math.max(0, ...polled.map(({ outcome }) => outcome?.pauseMs ?? 0));
      if (pauseMs > 0) await pausePolls(db, { key, ms: pauseMs, now: clock.now() });
      await settleBatch(polling, polled);
      if (polled.some(({ outcome }) => outcome?.recorded)) void deps.during(announce());
    } finally {
      inFlight[lane] -= claims.length;
    }
  };

  return {
    start: async () => {
      await heartbeat.start();
      // Not the full repair, which waits: processes with other keys may still be starting. In a file the rows are the
      // schedule.
      if (isShared(db)) await scheduleAll(polling);
      const working = await engine.work({
        key,
        batch: (lane) => Math.min(sizes[lane], atOnce[lane] - inFlight[lane]),
        handle: (claims, lane) => deps.during(handle(claims, lane)),
        onFault,
      });
      wake = working.wake;
    },
    wake: () => wake(),
    sweep: async () => {
      if (!isShared(db)) await markUnknownStarts(deps);
      // A process with nothing to poll does not write to the file.
      if (!heartbeat.isStarted() || (!isShared(db) && (await countPolledRuns(db, clock.now())) === 0)) return;
      await heartbeat.beat();
      // On one machine the rows are the schedule, any process polls any run, and each looks for unknown starts.
      if (isShared(db)) await repairIfTime(polling);
    },
    inFlight: () => inFlight.quick + inFlight.slow + announcing,
  };
}

function batchSizes({ perSecond }: RateLimit): Record<Lane, number> {
  const wanted = Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.ceil((perSecond * BATCH_MS) / 1_000)));
  return {
    quick: Math.max(1, Math.min(wanted, Math.floor((perSecond * MAX_BATCH_MS) / 1_000))),
    slow: Math.min(MAX_SLOW_BATCH, Math.ceil(perSecond / 2)),
  };
}

async function pollBatch({ deps, rate, owners }: Polling, claims: Claim[], lane: Lane): Promise<Polled[]> {
  failpoint("after-claim");
  const taskIds = claims.map(({ taskId }) => taskId);
  const rows = await readPolledRuns(deps.db, taskIds);
  await owners.refresh();
  // Owners with few runs come first, and their runs in the order in which they were delivered.
  const known = taskIds
    .flatMap((taskId) => rows.get(taskId) ?? [])
    .toSorted((one, other) => owners.of(other.owner).rank - owners.of(one.owner).rank);
  const requests = lane === "slow" ? POLLS_BEFORE_EXPIRED : 1;
  const reservation = { permits: known.length * requests, withinMs: MAX_AHEAD_MS, now: deps.clock.now() };
  const permits = known.length === 0 ? { fromMs: 0 } : await reservePermits(deps.db, rate, reservation);
  if ("waitMs" in permits) await deps.clock.sleep(NO_PERMIT_DELAY_MS, deps.leaving).catch(() => undefined);
  const offsets = new Map(known.map((row, n) => [row, (n * requests * 1_000) / rate.perSecond]));
  return Promise.all(
    claims.map(async (claim): Promise<Polled> => {
      const row = rows.get(claim.taskId);
      if (row === undefined) return { claim };
      const offset = offsets.get(row) ?? 0;
      const permit =
        "waitMs" in permits
          ? permits
          : await waitForPermit(deps, {
              rate,
              permits: requests,
              inMs: permits.fromMs + offset,
              isScarce: permits.fromMs > 0,
            });
      if (permit === "valid") return { claim, row, outcome: await pollOne(deps, row, lane) };
      return { claim, row, putBack: { afterMs: Math.max(0, permit.waitMs - MAX_AHEAD_MS / 2 + offset), lane } };
    }),
  );
}

/** A poll that fails is logged and repeated; it does not stop the others of its batch. */
async function pollOne(deps: ResearchDeps, row: Row, lane: Lane): Promise<Outcome> {
  const { task_id: taskId } = row;
  if (deps.leaving.aborted) return { next: { afterMs: 0 } };
  try {
    const { pollRun } = await polls();
    return await pollRun(deps, polledRunOf(row), lane);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "a poll failed";
    if (!deps.leaving.aborted) deps.log.forRun(taskId).warn(`Run ${taskId}: ${reason}`);
    return AGAIN;
  }
}

/** A run that cannot be settled does not stop the others of its batch; it is delivered again. */
async function settleBatch(polling: Polling, polled: Polled[]): Promise<void> {
  try {
    await settle(polling, polled);
  } catch (error) {
    if (polled.length === 1) throw error;
    const alone = await Promise.allSettled(polled.map((one) => settle(polling, [one])));
    if (alone.some(({ status }) => status === "rejected")) throw error;
  }
}

/** Stores what was seen, releases the claims and schedules the next polls in one transaction. */
const settle = (polling: Polling, polled: Polled[]): Promise<void> =>
  polling.deps.db.transaction().execute(async (transaction) => {
    const { engine } = polling;
    const settled = polled.map((one) => ({ claim: one.claim, next: nextPollOf(polling, one) }));
    const released = await engine.settle(transaction, settled);
    const ours = polled.filter(({ claim }) => released.has(claim.taskId));
    await recordSeen(
      transaction,
      ours.flatMap(({ claim: { taskId }, outcome }) =>
        outcome?.seen === undefined ? [] : [{ taskId, seen: outcome.seen }],
      ),
    );
    const last = ours.filter((one) => nextPollOf(polling, one) === undefined);
    if (last.length === 0) return;
    await endPolling(
      transaction,
      last.flatMap(({ row, outcome }) => (row === undefined || outcome?.recorded === true ? [] : [row])),
    );
    const taskIds = last.map(({ claim }) => claim.taskId);
    // Those that a user has reopened in the meantime.
    await engine.schedule(transaction, await keysOfPolledRuns(transaction, taskIds));
  });

/** Undefined: the run is no longer polled. */
function nextPollOf({ owners, key }: Polling, { claim: { taskId }, row, outcome, putBack }: Polled): Due | undefined {
  const { intervalMs, rank } = owners.of(row?.owner ?? "");
  const due = { taskId, key, rank };
  if (putBack !== undefined) return { ...due, ...putBack };
  if (outcome === undefined || outcome.next === "never") return undefined;
  const { next } = outcome;
  if (next === "slow") return { ...due, lane: "slow" };
  return { ...due, afterMs: next === "interval" ? intervalMs * (0.95 + Math.random() * 0.1) : next.afterMs };
}

/** Once a minute in one of all processes. */
async function repairIfTime(polling: Polling): Promise<void> {
  const { db, clock } = polling.deps;
  const turn = await reservePermits(db, REPAIRS, { permits: 1, withinMs: 0, now: clock.now() });
  if ("waitMs" in turn) return;
  await scheduleAll(polling);
  await markUnknownStarts(polling.deps);
  await checkRunsWithoutKey(polling);
}

/** Schedules a poll for every run without one; those that are scheduled already are kept. */
async function scheduleAll({ deps: { db }, engine, owners, pollIntervalMs }: Polling): Promise<void> {
  await owners.refresh();
  const due = (await allPolledRuns(db)).map(({ taskId, key, owner }) => {
    const { rank } = owners.of(owner);
    return { taskId, key, rank, afterMs: Math.random() * pollIntervalMs };
  });
  if (due.length > 0) await engine.schedule(db, due);
}

/** Runs whose key no process has are not delivered, but still show why, and end at their deadline. */
async function checkRunsWithoutKey({ deps, key, rate }: Polling): Promise<void> {
  const { db, clock, leaving } = deps;
  const keys = [key, ...(await polledKeys(db, clock.now()))];
  const { waitForKey } = await polls();
  for (const row of await withoutKey(db, { keys, now: clock.now(), limit: MAX_WITHOUT_KEY })) {
    if (leaving.aborted) return;
    const run = polledRunOf(row);
    const isAsked = clock.now() >= run.deadlineAt;
    if (isAsked) await clock.sleep(await reservePermit(db, rate, clock.now()), leaving);
    const { next, recorded, seen } = await waitForKey(deps, run);
    if (seen !== undefined) await recordSeen(db, [{ taskId: run.taskId, seen }]);
    if (next === "never" && recorded !== true) await endPolling(db, [row]);
  }
}

type Owners = ReturnType<typeof createOwners>;

function createOwners({ deps, key, rate, pollIntervalMs }: Omit<Polling, "owners" | "engine">) {
  const { db, clock } = deps;
  let runsOf: ReadonlyMap<string, number> = new Map();
  let intervals: ReadonlyMap<string, number> = new Map();
  let countedAt = -Infinity;
  return {
    refresh: async (): Promise<void> => {
      if (Math.abs(clock.monotonic() - countedAt) < COUNT_MS) return;
      countedAt = clock.monotonic();
      runsOf = await countByOwner(db, { key, now: clock.now() });
      intervals = fairIntervals({ runsOf, rate: rate.perSecond, minIntervalMs: pollIntervalMs });
    },
    of: (owner: string): { intervalMs: number; rank: number } => ({
      intervalMs: intervals.get(owner) ?? pollIntervalMs,
      rank: priorityOf(runsOf.get(owner) ?? 1),
    }),
  };
}

/** Stores the key of this process and its poll counts. */
function createHeartbeat({ db, processId, clock, pollCounts }: ResearchDeps, key: string) {
  let beatAt = -Infinity;
  let isStarted = false;
  const record = (): Promise<void> => {
    beatAt = clock.now();
    return recordHeartbeat(db, processId, { key, polls: JSON.stringify(pollCounts.lastMinutes()), now: beatAt });
  };
  return {
    start: async (): Promise<void> => {
      // On one machine it is only informational, so a read-only database is not an error.
      await record().catch((error: unknown) => (isShared(db) ? Promise.reject(error) : undefined));
      isStarted = true;
    },
    isStarted: (): boolean => isStarted,
    /** May be called more often; writes at most once per interval. */
    beat: async (): Promise<void> => {
      if (Math.abs(clock.now() - beatAt) >= HEARTBEAT_MS) await record();
    },
  };
}

export interface Demand {
  runsOf: ReadonlyMap<string, number>;
  /** Polls per second. */
  rate: number;
  minIntervalMs: number;
}

/** The share of the rate that is scheduled, so that due polls get a permit at once. */
const SCHEDULED_SHARE = 0.95;

/** Returns the interval of each owner in ms. Owners with few runs get all they can use; the others share the rest. */
export function fairIntervals({ runsOf, rate, minIntervalMs }: Demand): Map<string, number> {
  const ascending = [...runsOf].toSorted(([, a], [, b]) => a - b);
  let left = rate * SCHEDULED_SHARE;
  return new Map(
    ascending.map(([owner, runs], n) => {
      const share = Math.min((runs * 1_000) / minIntervalMs, left / (ascending.length - n));
      left -= share;
      return [owner, (runs * 1_000) / share];
    }),
  );
}

/** Among polls that are due, those of owners with few runs come first. */
export const priorityOf = (runs: number): number => -Math.floor(Math.log2(Math.max(1, runs)));
