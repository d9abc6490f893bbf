/** Parses pages in a thread whose time and memory are bounded. */

import type { PageLimits } from "../limits.ts";
import type { PageContent } from "../text/read-html.ts";
import { createBoundedThread } from "./bounded-thread.ts";
import type { Job } from "./read-content.ts";

export interface ReadingThread {
  read(job: Job, signal: AbortSignal): Promise<PageContent>;
  close(): Promise<void>;
}

const TOO_LARGE: PageContent = { outcome: "unreadable", wall: "too_large" };

/** The build has the worker beside all its chunks; tests run the source. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "./page-worker.ts" : "./page-worker.js", import.meta.url);

export function createReadingThread(limits: Pick<PageLimits, "readMs" | "readMemoryBytes">): ReadingThread {
  const { run, close } = createBoundedThread<Job, PageContent>({
    entry: ENTRY,
    maxMs: limits.readMs,
    maxMemoryBytes: limits.readMemoryBytes,
    messageOf: (job) => {
      // A copy of its own: the pool that small buffers share cannot be transferred.
      const bytes = Uint8Array.from(job.bytes);
      return { message: { ...job, bytes }, transfer: [bytes.buffer] };
    },
  });
  return { read: async (job, signal) => (await run(job, signal)) ?? TOO_LARGE, close };
}
