/** Entry of the worker thread that compares claims with a page: a hostile page can block or exhaust this thread only. */

import { parentPort } from "node:worker_threads";
import { compareClaims, type ComparisonJob } from "./compare-claims.ts";

parentPort?.on("message", (job: ComparisonJob) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
  parentPort?.postMessage(compareClaims(job));
});
