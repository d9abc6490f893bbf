/**
 * The engine for SQLite: a timer over the table of runs. A delivery is due at `next_poll_at`; a claim is a lease, by
 * `lease_owner` and `lease_until`. Any process polls any run, whatever its key: they share one machine and one user.
 */

import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { claimDue, hasten, nextDueAt, release, releaseDead, resetFar } from "./claim-store.ts";
import { type Claim, CLOSE_MS, type Engine, type Lane, rankOf, type Worker } from "./engine.ts";

export interface TableEngineOptions {
  db: Database;
  clock: Clock;
  processId: string;
  log: Log;
  leaving: AbortSignal;
}

/** How long a claim that was not settled waits for the next delivery. */
const RETRY_MS = 1_000;
/** Bounds how long the death of a process, and a run that another process has started, go unnoticed. */
const REPAIR_MS = 5_000;
const MIN_SLEEP_MS = 50;
/** A later time was written before the clock was set back, unless a longer delay was scheduled. */
const FAR_MS = 20 * 60_000;
const LANES: readonly Lane[] = ["quick", "slow"];

export function createTableEngine({ db, clock, processId, log, leaving }: TableEngineOptions): Engine {
  const settled = new WeakSet<Claim>();
  /** Claims that were not settled. Until they are released, their leases block all processes. */
  const unsettled = new Set<Claim>();
  const inFlight = new Set<Promise<void>>();
  let longestMs = 0;
  let repairedAt = -Infinity;
  const closing = new AbortController();
  const ending = AbortSignal.any([leaving, closing.signal]);
  let sleeping = new AbortController();
  const wake = (): void => sleeping.abort();
  ending.addEventListener("abort", wake, { once: true });

  const handle = async (worker: Worker, claims: Claim[], lane: Lane): Promise<void> => {
    try {
      await worker.handle(claims, lane);
      for (const claim of claims) if (!settled.has(claim)) unsettled.add(claim);
    } catch (error) {
      for (const claim of claims) unsettled.add(claim);
      await worker.onFault(error, 1);
    }
    wake();
  };

  const releaseUnsettled = async (): Promise<void> => {
    for (const claim of unsettled) {
      await release(db, { processId, claim, set: { next_poll_at: clock.now() + RETRY_MS } });
      unsettled.delete(claim);
    }
  };

  const deliver = async (worker: Worker): Promise<void> => {
    for (const lane of LANES) {
      for (;;) {
        const [limit, now] = [worker.batch(lane), clock.now()];
        const claims = limit <= 0 ? [] : await claimDue(db, { processId, lane, limit, now });
        if (claims.length === 0) break;
        const handled = handle(worker, claims, lane).finally(() => inFlight.delete(handled));
        inFlight.add(handled);
      }
    }
  };

  const repairIfTime = async (): Promise<void> => {
    const now = clock.now();
    const sinceMs = now - repairedAt;
    // Negative when the clock was set back, in which case the due times need repair.
    if (sinceMs >= 0 && sinceMs < REPAIR_MS) return;
    await releaseDead(db, log, now);
    await resetFar(db, { now, latest: now + Math.max(FAR_MS, 2 * longestMs) });
    repairedAt = now;
  };

  const sleep = async (worker: Worker): Promise<void> => {
    const now = clock.now();
    // The end of a batch wakes a worker that is full.
    const dueAt = worker.batch("quick") <= 0 ? Infinity : ((await nextDueAt(db, now)) ?? Infinity);
    const ms = Math.min(REPAIR_MS, Math.max(MIN_SLEEP_MS, dueAt - now));
    if (!ending.aborted) await clock.sleep(ms, sleeping.signal).catch(() => undefined);
    sleeping = new AbortController();
  };

  const loop = async (worker: Worker): Promise<void> => {
    let failures = 0;
    while (!ending.aborted) {
      try {
        await repairIfTime();
        await releaseUnsettled();
        await deliver(worker);
        failures = 0;
        await sleep(worker);
      } catch (error) {
        if (ending.aborted) return;
        failures += 1;
        await worker.onFault(error, failures);
        await clock.sleep(REPAIR_MS, ending).catch(() => undefined);
      }
    }
  };

  return {
    // The due time is in the row of the run.
    schedule: async () => {},
    work: async (worker) => {
      void loop(worker);
      return { wake };
    },
    settle: async (transaction, ended) => {
      const ours = new Set<string>();
      for (const { claim, next } of ended) {
        const afterMs = Math.round(next?.afterMs ?? 0);
        const set = next === undefined ? {} : { next_poll_at: clock.now() + afterMs, poll_rank: rankOf(next) };
        if (await release(transaction, { processId, claim, set })) ours.add(claim.taskId);
        longestMs = Math.max(longestMs, afterMs);
        settled.add(claim);
      }
      return ours;
    },
    hasten: async ({ taskId }) => {
      const isHastened = await hasten(db, taskId, clock.now());
      wake();
      return isHastened;
    },
    close: async () => {
      closing.abort();
      await Promise.race([Promise.allSettled(inFlight), clock.sleep(CLOSE_MS)]);
    },
  };
}
