/** Waits for SQLite locks with asynchronous sleeps: the driver's busy timeout would block the event loop. */

import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "./errors.ts";

/** Long enough for a backup or a migration, and short enough for a start to respond within 30 s. */
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
      // Jitter, so that waiting processes do not retry at the same time.
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}

export interface WriterLock {
  /** Resolves with the function that releases the lock. Granted in order of request. */
  acquire(): Promise<() => void>;
}

/** Allows one writer at a time within this process. */
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
