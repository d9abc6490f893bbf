/** Compares claims with pages in a thread whose time and memory are bounded. */

import { createBoundedThread } from "../../pages/worker/bounded-thread.ts";
import type { ComparedClaim, ComparisonJob } from "./compare-claims.ts";

/** Undefined if the page takes too much time or memory. */
export type CompareClaims = (job: ComparisonJob, signal: AbortSignal) => Promise<ComparedClaim[] | undefined>;

export interface CompareThread {
  compare: CompareClaims;
  close(): Promise<void>;
}

const MEGABYTE = 1_048_576;
/** A long page with many claims takes about a second. */
const LIMITS = { maxMs: 20_000, maxMemoryBytes: 256 * MEGABYTE };

/** The build has the worker beside all its chunks; tests run the source. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "./compare-worker.ts" : "./compare-worker.js", import.meta.url);

export function createCompareThread(limits = LIMITS): CompareThread {
  const { run, close } = createBoundedThread<ComparisonJob, ComparedClaim[]>({ entry: ENTRY, ...limits });
  return { compare: run, close };
}
