/** Time as a dependency, so that tests can move it, and what only needs some of it. */

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

const BUSY = ["EPERM", "EBUSY", "EACCES"];
const BUSY_TRIES = 10;
const BUSY_WAIT_MS = 200;

/** Windows refuses while a scanner or an editor has the file open. */
export async function patiently<T>(
  action: () => Promise<T>,
  { platform = process.platform, waitMs = BUSY_WAIT_MS }: { platform?: NodeJS.Platform; waitMs?: number } = {},
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (platform !== "win32" || !BUSY.includes(code) || tries === BUSY_TRIES) throw error;
      await delay(waitMs);
    }
  }
}
