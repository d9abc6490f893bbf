/** A fetch for requests with an API key: redirects are not followed, and size and time are limited. */

import { AsyncLocalStorage } from "node:async_hooks";
import { limitResponse } from "./bounded-fetch.ts";
import { observedRequest } from "./request-telemetry.ts";

export type Fetch = typeof fetch;

/**
 * The abort signal of the current operation. The SDK passes its signal on in a copy of the Request; once that copy is
 * garbage-collected, an abort no longer reaches Node's fetch, and a slowly dripping body would be read forever.
 */
const activeSignal = new AsyncLocalStorage<AbortSignal>();

export function guardedFetch(fetcher: Fetch, maxBytes: number): Fetch {
  return async (input, init) => {
    const signal = activeSignal.getStore();
    // Following a redirect would send the key to another host.
    const guard = { redirect: "manual" as const, ...(signal !== undefined && { signal }) };
    const response = await observedRequest(input, init, () => fetcher(input, { ...init, ...guard }));
    return limitResponse(response, { maxBytes });
  };
}

/** A timer that fires this late means that the process was suspended, not just busy. */
const SUSPENDED_AFTER_MS = 1_000;
/** Time after a suspension to read a response that arrived in the socket meanwhile. */
const RESUME_GRACE_MS = 10_000;

/**
 * Calls `abort` after `ms`. A process that was suspended (SIGSTOP, docker pause) runs its timers before it reads its
 * sockets, and would discard a response that had arrived long before; so a late timer first lets sockets be read.
 */
function abortAfter(ms: number, abort: () => void): { clear(): void } {
  let timer: NodeJS.Timeout;
  let pending: NodeJS.Immediate | undefined;
  const arm = (wait: number): void => {
    const due = performance.now() + wait;
    timer = setTimeout(() => {
      if (performance.now() - due > SUSPENDED_AFTER_MS) arm(RESUME_GRACE_MS);
      else pending = setImmediate(abort);
    }, wait);
  };
  arm(ms);
  return {
    clear: () => {
      clearTimeout(timer);
      clearImmediate(pending);
    },
  };
}

/** Runs `work` with a time limit. Not with AbortSignal.timeout: the SDK retries after that. */
export async function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const limit = abortAfter(ms, abort);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await activeSignal.run(controller.signal, () => work(controller.signal));
  } finally {
    limit.clear();
    signal.removeEventListener("abort", abort);
  }
}
