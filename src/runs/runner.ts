/** Follows background runs: claims what is due, looks, and streams progress for runs somebody watches. No leader. */

import { AppError } from "../errors.ts";
import { failpoint } from "../platform/failpoint.ts";
import { apart } from "../telemetry/telemetry.ts";
import { isShared } from "../store/dialect.ts";
import { processLiveness } from "../store/processes.ts";
import { hasAttempt } from "./attempt-store.ts";
import {
  bringForward,
  type ClaimedRun,
  claimInTurn,
  countFollowed,
  leaseHolders,
  nextLookAt,
  releaseFrom,
  releaseRun,
  releaseUnheard,
} from "./claim-store.ts";
import { recordFreeStarts } from "./free-starts.ts";
import { createHanding } from "./handing.ts";
import { isHeld, LOOK_LEASE_MS, START_LEASE_MS } from "./lease.ts";
import { importOrphans } from "./orphans.ts";
import { pollRun } from "./poll.ts";
import { setAsideUnreadable } from "./polling/unreadable-store.ts";
import { recoverInterruptedRuns } from "./recover.ts";
import type { ResearchDeps } from "./research.ts";
import { takeUnreadable } from "./rows/unreadable.ts";
import { rescueFollowed, rescueReports } from "./rescue.ts";
import { saveInteractionId } from "./interaction-store.ts";
import { pendingStarts, recordStartFailure } from "./start-store.ts";
import { followStream } from "./stream.ts";
import { createWatchedStreams, type Watch } from "./streams/watched-streams.ts";

export interface RunnerOptions {
  deps: ResearchDeps;
  pollIntervalMs: number;
  maxRps: number;
  /** False: this process only keeps order, and leaves the looking to others. */
  follows?: boolean | undefined;
  /** Most runs that an engine may hand to this process. */
  mostFollowed?: number | undefined;
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
  /** Unfinished runs that are being followed. */
  count(): Promise<number>;
  /** Nothing is left to follow, and nothing is being done. */
  idle(): Promise<boolean>;
}

/** So many that Google's time to answer does not keep a worker below the rate it is allowed. */
const mostLooksAtOnce = (maxRps: number): number => Math.min(256, Math.max(8, Math.ceil(2 * maxRps)));
const MOST_FOLLOWED = 5_000;
/** How long a dead process's work can go unnoticed on this machine. */
const SWEEP_MS = 5_000;
const SHORTEST_SLEEP_MS = 50;
/** Rounds in a row that the database refused. One is a passing fault, and no reason to ask Google out of turn. */
const REFUSED_FOR_GOOD = 2;
/** Beyond the interval, a look is put off for a wrong key or for usage that comes late: minutes. */
const LONGEST_PUT_OFF_MS = 10 * 60_000;

export function createRunner(options: RunnerOptions): Runner {
  const { deps, pollIntervalMs, maxRps, deliver, follows = true, mostFollowed = MOST_FOLLOWED } = options;
  const { db, clock, log, leaving, queue } = deps;
  const mostLooks = mostLooksAtOnce(maxRps);
  const among = { key: deps.agent.fingerprint.key, handedTo: queue.hands ? deps.processId : undefined };
  const looking = new Set<string>();
  let faultAt = -Infinity;
  let checkedAt = -Infinity;
  let running = 0;
  let sweptAt = 0;
  let swept = false;
  let started = false;
  let wake: () => void = () => {};

  const handing = createHanding({ deps, queue, mostFollowed, wake: () => wake() });

  /** Leases of looks that are over. One that the database would not take back keeps everybody from looking again. */
  const over = new Set<ClaimedRun>();
  const release = async (run: ClaimedRun): Promise<void> => {
    over.add(run);
    await releaseRun(db, run);
    over.delete(run);
  };

  const interval = (): number => Math.max(pollIntervalMs, (running / maxRps) * 1_000);
  const pollClaimed = async (): Promise<void> => {
    const limit = follows ? mostLooks - looking.size : 0;
    const now = clock.now();
    // A claim that finds nothing would still wait for the write lock.
    if (limit <= 0 || ((await nextLookAt(db, now, among)) ?? Infinity) > now) return;
    const nextPollAt = Math.round(now + interval() * (0.9 + Math.random() * 0.2));
    const claimed = await claimInTurn(db, { processId: deps.processId, limit, maxRps, now, nextPollAt, among });
    if (claimed.length > 0) failpoint("after-claim");
    for (const run of claimed) {
      looking.add(run.taskId);
      const look = apart(run.taskId, () => pollRun(deps, run))
        .catch((error: unknown) => {
          if (!leaving.aborted)
            log
              .forRun(run.taskId)
              .warn(`Run ${run.taskId}: ${error instanceof Error ? error.message : "a look failed"}`);
        })
        .then(() => release(run))
        .then(deliver)
        .catch(() => undefined)
        .finally(() => {
          looking.delete(run.taskId);
          wake();
        });
      void deps.during(look);
    }
  };

  const sweep = async (): Promise<void> => {
    const sinceLast = clock.now() - sweptAt;
    // Less than nothing: the clock was set back, and the times of the looks have to be brought forward.
    if (sinceLast >= 0 && sinceLast < SWEEP_MS) return;
    sweptAt = clock.now();
    if (!swept || faultAt > checkedAt) await setAside();
    await importOrphans(db, { directory: deps.stateDir, log, now: clock.now() });
    if (deps.unsaved.size > 0) await followUnsaved();
    await recordFreeStarts(deps);
    await markUnknownStarts(deps);
    await takeOver(deps);
    // A claim whose answer was lost with the connection would keep everybody from looking until its lease is over.
    if (clock.now() - faultAt < LOOK_LEASE_MS) await releaseUnheard(db, { processId: deps.processId, looking });
    await handing.sweep();
    // On a machine of its own a dead search is seen at the next start; one of another only when its lease has ended.
    if (isShared(db)) await recoverInterruptedRuns(db, log, clock.now());
    running = await countFollowed(db);
    const now = clock.now();
    await bringForward(db, { now, furthest: now + 2 * interval() + LONGEST_PUT_OFF_MS });
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
  const followUnsaved = async (): Promise<void> => {
    for (const { taskId, attemptId, interactionId } of deps.unsaved.values()) {
      const save = async (): Promise<boolean> =>
        (await saveInteractionId(db, { attemptId, interactionId, now: clock.now() })) ||
        // The import of orphans was faster. A database without the attempt is another one, and does not have the id.
        (await hasAttempt(db, attemptId));
      if (await save().catch(() => false)) deps.unsaved.delete(taskId);
    }
    if (deps.unsaved.size > 0) await rescueReports(deps, rescued);
  };

  const loop = async (): Promise<void> => {
    let refused = 0;
    while (!leaving.aborted) {
      try {
        for (const run of over) await release(run);
        await sweep();
        await pollClaimed();
        refused = 0;
        await sleepUntilDue();
      } catch (error) {
        if (leaving.aborted) return;
        faultAt = clock.now();
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
    const due = follows && looking.size < mostLooks ? await nextLookAt(db, now, among) : undefined;
    // Woken in between, it must not sleep past its next sweep: a dead process is noticed within that time.
    const next = Math.min(due ?? Infinity, sweptAt + SWEEP_MS);
    const ms = Math.min(SWEEP_MS, Math.max(SHORTEST_SLEEP_MS, next - now));
    if (!leaving.aborted) await clock.sleep(ms, sleeping.signal).catch(() => undefined);
  };
  leaving.addEventListener("abort", () => wake(), { once: true });

  const watch = createWatchedStreams({
    follow: (run, signal) => apart(run.taskId, () => followStream(deps, run, { signal, maxRps })),
    onChange: () => wake(),
    leaving,
  });

  return {
    start: () => {
      if (started) return;
      started = true;
      void apart(undefined, loop);
      // What it was handed, it gives back before the process ends.
      if (follows && queue.hands) void deps.during(handing.follow()).catch(() => undefined);
    },
    wake: () => wake(),
    count: () => countFollowed(db),
    idle: async () =>
      looking.size === 0 && swept && (await countFollowed(db)) === 0 && (await pendingStarts(db)).length === 0,
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

/** The sender is gone, or had more time than a request can take: whether Google got it, nobody knows. */
async function markUnknownStarts(deps: ResearchDeps): Promise<void> {
  const starts = await pendingStarts(deps.db);
  const owners = await processLiveness(
    deps.db,
    starts.map(({ leaseOwner }) => leaseOwner ?? ""),
  );
  for (const { taskId, attemptId, leaseOwner, leaseUntil } of starts) {
    const now = deps.clock.now();
    // Its id, or that it cost nothing, is known here and only waits for the database.
    if (deps.unsaved.has(taskId) || deps.freeStarts.has(attemptId)) continue;
    const held = isHeld(leaseUntil ?? 0, { now, lease: START_LEASE_MS });
    if (owners.get(leaseOwner ?? "") !== "dead" && held) continue;
    const message =
      "The process that started this research ended before Google had answered. It is not known whether it was started.";
    await recordStartFailure(deps.db, {
      taskId,
      attemptId,
      to: "start_unknown",
      error: { code: "START_UNKNOWN", message },
      now,
    });
    deps.log.forRun(taskId).warn(`Run ${taskId}: ${message}`);
  }
}

async function takeOver(deps: ResearchDeps): Promise<void> {
  const holders = await leaseHolders(deps.db);
  const owners = await processLiveness(deps.db, holders);
  const dead = holders.filter((holder) => owners.get(holder) === "dead");
  const released = await releaseFrom(deps.db, dead, deps.clock.now());
  if (released > 0)
    deps.log.info(
      `${released} research ${released === 1 ? "run" : "runs"} of a process that ended ${released === 1 ? "is" : "are"} taken up.`,
    );
}
