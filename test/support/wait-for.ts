/** Waits for what a test expects; as Vitest's own does, but also in the lab, where no Vitest runs. */

import { setTimeout as sleep } from "node:timers/promises";

export async function waitFor<T>(
  look: () => T | Promise<T>,
  { timeout, interval }: { timeout: number; interval: number },
): Promise<T> {
  const until = performance.now() + timeout;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
    await sleep(interval);
  }
}
