/** Fetch as a request with a key needs it: it is not sent on to anybody else, and its answer has an end. */

import { AsyncLocalStorage } from "node:async_hooks";
import { bounded } from "./bounded-fetch.ts";
import { observedRequest } from "./observed-request.ts";

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

/** The SDK takes an AbortSignal.timeout for a fault worth repeating; a controller of our own ends at once. */
export async function withLimit<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, ms);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await limited.run(controller.signal, () => work(controller.signal));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
