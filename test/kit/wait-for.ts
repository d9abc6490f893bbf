/**
 * Waits until an assertion holds, like Vitest's `vi.waitFor`, but also outside Vitest and for longer than one second:
 * on a busy machine a process may get no CPU time for that long.
 */

import { setTimeout as sleep } from "node:timers/promises";

export async function waitFor<T>(
  assertion: () => T | Promise<T>,
  { timeout = 60_000, interval = 50 }: { timeout?: number; interval?: number } = {},
): Promise<T> {
  const until = performance.now() + timeout;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await sleep(interval);
  }
}
