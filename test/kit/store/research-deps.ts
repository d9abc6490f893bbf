/** The dependencies of a runner that are the same in all tests: no limits, a fixed cost, the engine of one machine. */

import { systemClock } from "../../../src/platform/clock.ts";
import { createTableEngine, type TableEngineOptions } from "../../../src/runs/engine/table-engine.ts";
import type { ResearchDeps } from "../../../src/runs/deps.ts";
import { START_LIMITS } from "../../../src/runs/start/limits-store.ts";
import { createPollCounts } from "../../../src/runs/poll/poll-counts.ts";

export const commonDeps = (options: TableEngineOptions) =>
  ({
    ...options,
    mcpServer: () => {
      throw new Error("No server is configured.");
    },
    costOf: () => ({ usd: 1, incomplete: false, estimated: false }),
    unsavedIds: new Map(),
    unchargedFailures: new Map(),
    pollCounts: createPollCounts(systemClock),
    redact: (text: string) => text,
    queue: createTableEngine(options),
    limits: START_LIMITS,
  }) satisfies Partial<ResearchDeps>;

/** Keeps track of unfinished work. */
export function trackWork(): { working: Set<Promise<unknown>>; during: ResearchDeps["during"] } {
  const working = new Set<Promise<unknown>>();
  return {
    working,
    during: (work) => {
      working.add(work);
      const done = (): void => void working.delete(work);
      work.then(done, done);
      return work;
    },
  };
}
