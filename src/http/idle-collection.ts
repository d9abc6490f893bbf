/**
 * Returns the memory of a load to the system once it is over. V8 collects when it allocates, so that a server without
 * requests would keep hundreds of megabytes of garbage until the next load.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const CHECK_INTERVAL_MS = 10_000;
const IDLE_MS = 20_000;
/** Fewer leave too little garbage for a collection, which takes about a tenth of a second. */
const MIN_REQUESTS = 200;

export interface IdleCollectionOptions {
  now: () => number;
  collect?: () => void;
  checkIntervalMs?: number;
}

/** The returned function is called with every request. */
export function createIdleCollection({
  now,
  collect = collectGarbage,
  checkIntervalMs = CHECK_INTERVAL_MS,
}: IdleCollectionOptions): () => void {
  let requests = 0;
  let lastAt = 0;
  setInterval(() => {
    if (requests < MIN_REQUESTS || now() - lastAt < IDLE_MS) return;
    requests = 0;
    collect();
  }, checkIntervalMs).unref();
  return () => {
    requests += 1;
    lastAt = now();
  };
}

/** A context that is created while the flag is set has the function; the program's own does not get it. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  if (typeof gc === "function") gc({ type: "major", execution: "async", flavor: "last-resort" });
}
