/** Lets one request at a time go to a host, with a pause after each, and requests to a few hosts at once. */

import type { Clock } from "../../platform/clock.ts";
import type { PageLimits } from "../page.ts";

export interface HostQueue {
  /** Rejects with the signal's reason if it is aborted before the turn comes. */
  withHostPermit<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

interface HostState {
  /** Resolves when the last request in the queue of this host has ended. */
  last: Promise<void>;
  waiting: number;
  /** On the monotonic clock: the earliest start of the next request. */
  freeAt: number;
}

type QueueLimits = Pick<PageLimits, "hostIntervalMs" | "concurrentHosts">;

export function createHostQueue(clock: Clock, { hostIntervalMs, concurrentHosts }: QueueLimits): HostQueue {
  const hosts = new Map<string, HostState>();
  const permits = createPermits(concurrentHosts);

  const forgetIdle = (): void => {
    for (const [host, { waiting, freeAt }] of hosts) {
      if (waiting === 0 && freeAt <= clock.monotonic()) hosts.delete(host);
    }
  };

  return {
    withHostPermit: async (host, signal, work) => {
      forgetIdle();
      const state = hosts.get(host) ?? { last: Promise.resolve(), waiting: 0, freeAt: 0 };
      hosts.set(host, state);
      const previous = state.last;
      const ended = Promise.withResolvers<void>();
      state.last = ended.promise;
      state.waiting += 1;
      try {
        await previous;
        signal.throwIfAborted();
        const wait = state.freeAt - clock.monotonic();
        if (wait > 0) await clock.sleep(wait, signal);
        return await permits.holding(async () => {
          signal.throwIfAborted();
          try {
            return await work();
          } finally {
            state.freeAt = clock.monotonic() + hostIntervalMs;
          }
        });
      } finally {
        state.waiting -= 1;
        ended.resolve();
      }
    },
  };
}

function createPermits(count: number): { holding<T>(work: () => Promise<T>): Promise<T> } {
  let free = count;
  const queue: (() => void)[] = [];
  return {
    holding: async (work) => {
      if (free === 0) await new Promise<void>((resolve) => queue.push(resolve));
      else free -= 1;
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
