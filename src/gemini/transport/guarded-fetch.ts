/** Fetch as a request with a key needs it: it is not sent on to anybody else, and its answer has an end. */

import { AsyncLocalStorage } from "node:async_hooks";
import { bounded } from "./bounded-fetch.ts";
import { observedRequest } from "./request-telemetry.ts";

export type Fetch = typeof fetch;

/**
 * The signal of the work that a request belongs to. The SDK hands its own on inside a copy of a Request, and once that
 * is collected Node does not hear of an abort any more: a body that drips would be read for ever.
 */
const limited = new AsyncLocalStorage<AbortSignal>();

export function guardedFetch(fetcher: Fetch, mostBytes: number): Fetch {
  return async (input, init) => {
    const signal = limited.getStore();
    // Fetch would take the key along to wherever it is sent.
    const guard = { redirect: "manual" as const, ...(signal !== undefined && { signal }) };
    const response = await observedRequest(input, init, () => fetcher(input, { ...init, ...guard }));
    return bounded(response, { most: mostBytes });
  };
}

/** A timer that fires this late did so because the process was suspended, not because it was busy. */
const SUSPENDED_MS = 1_000;
/** After a suspension: time to read the answer that may have been waiting in the socket meanwhile. */
const AFTER_SUSPENSION_MS = 10_000;

/**
 * Calls `abort` after `ms`. A process that was suspended (SIGSTOP, docker pause) runs its timers before it reads its
 * sockets, and would throw away an answer that has been there for long: a limit that fires late gives them their turn.
 */
function limitTime(ms: number, abort: () => void): { clear(): void } {
  let timer: NodeJS.Timeout;
  let turn: NodeJS.Immediate | undefined;
  const arm = (wait: number): void => {
    const due = performance.now() + wait;
    timer = setTimeout(() => {
      if (performance.now() - due > SUSPENDED_MS) arm(AFTER_SUSPENSION_MS);
      else turn = setImmediate(abort);
    }, wait);
  };
  arm(ms);
  return {
    clear: () => {
      clearTimeout(timer);
      clearImmediate(turn);
    },
  };
}

/** The SDK takes an AbortSignal.timeout for a fault worth repeating; a controller of our own ends at once. */
export async function withLimit<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const limit = limitTime(ms, abort);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await limited.run(controller.signal, () => work(controller.signal));
  } finally {
    limit.clear();
    signal.removeEventListener("abort", abort);
  }
}
