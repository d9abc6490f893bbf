/** Time as a dependency, so that tests can move it. */

import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  now(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? undefined : { signal });
  },
};

export const isoTime = (ms: number): string => new Date(ms).toISOString();
