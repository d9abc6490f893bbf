/** Time as a dependency, so that tests can control it. */

import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Wall-clock time: for dates that are stored or shown. It can jump, so it must not measure a wait. */
  now(): number;
  /** Milliseconds from an arbitrary origin that never go back: for waits and time limits. */
  monotonic(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? undefined : { signal });
  },
};

export const isoTime = (ms: number): string => new Date(ms).toISOString();
/** Resolves when `work` is done or after `ms`, whichever comes first. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
