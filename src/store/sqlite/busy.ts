/** Waiting for SQLite's locks without blocking the event loop: short asynchronous sleeps instead of the driver's busy timeout. */

import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "./errors.ts";

/** Long enough for a foreign backup or a migration, and short enough for a start to answer within its 30 s. */
const MAX_WAIT_MS = 15_000;
const FIRST_SLEEP_MS = 1;
const MAX_SLEEP_MS = 40;

/** By the monotonic clock: the wall clock may be set back while a statement waits. */
export const busyDeadline = (): number => performance.now() + MAX_WAIT_MS;

/** Repeats `action` while another connection holds the lock. It must have no effect when it fails. */
export async function retryWhileBusy<T>(action: () => T | Promise<T>, deadline = busyDeadline()): Promise<T> {
  for (let wait = FIRST_SLEEP_MS; ; wait = Math.min(wait * 2, MAX_SLEEP_MS)) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      // With jitter: processes that wait in step would all find the lock taken by one of them.
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}

export interface WriterLock {
  /** Resolves with the function that releases it. First come, first served. */
  acquire(): Promise<() => void>;
}

/** One writer at a time within this process. */
export function createWriterLock(): WriterLock {
  let last: Promise<void> = Promise.resolve();
  return {
    acquire: async () => {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      return resolve;
    },
  };
}
