/** Measures how long callers of a server wait while another program holds the database's write lock. */

import { setTimeout as sleep } from "node:timers/promises";
import { holdWriteLock } from "../kit/store/write-lock.ts";
import { openKillWorld } from "../kit/kills/world.ts";

export interface LockVerdict {
  /** The longest of the consecutive status calls made while the lock was held. */
  longestMs: number;
  calls: number;
  /** Paid starts; two are expected: one before the lock and one that waited for it. */
  paid: number;
}

export async function callWhileLocked(options: { ms: number; seed: number }): Promise<LockVerdict> {
  const scenario = { name: "lock", interactions: { speed: 1 } };
  const world = await openKillWorld({ seed: options.seed, build: "dist", scenario });
  try {
    const child = world.begin();
    await child.ready;
    const first = await child.call("start_deep_research", { query: "What is asked before the lock?" });
    const lock = { held: true };
    const free = holdWriteLock(world.configDir, options.ms).finally(() => (lock.held = false));
    const starting = child.call("start_deep_research", { query: "What is asked while it is locked?" });
    const verdict = { longestMs: 0, calls: 0, paid: 0 };
    while (lock.held) {
      const began = performance.now();
      await child.call("check_research_status", { task_id: first?.task_id });
      verdict.longestMs = Math.max(verdict.longestMs, Math.round(performance.now() - began));
      verdict.calls += 1;
      await sleep(20);
    }
    await Promise.all([free, starting]);
    verdict.paid = world.gemini.ledger.acceptedStarts().length;
    return verdict;
  } finally {
    await world.close();
  }
}
