/** Parses pages in a thread whose time and memory are bounded. */

import { Worker } from "node:worker_threads";
import { abortable, type PageLimits } from "../page.ts";
import type { PageContent } from "../text/read-html.ts";
import type { Job } from "./read-content.ts";

export interface ReadingThread {
  read(job: Job, signal: AbortSignal): Promise<PageContent>;
  close(): Promise<void>;
}

type ReadingLimits = Pick<PageLimits, "readMs" | "readMemoryBytes">;

const TOO_LARGE: PageContent = { outcome: "unreadable", wall: "too_large" };
const MEMORY_CHECK_MS = 20;
const IDLE_MS = 5_000;

/** The build has the worker beside all its chunks; tests run the source. */
const ENTRY = new URL(import.meta.url.endsWith(".ts") ? "./page-worker.ts" : "./page-worker.js", import.meta.url);

/** One page at a time; the thread is ended if a page takes too much time or memory. */
export function createReadingThread(limits: ReadingLimits): ReadingThread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  };
  const perform = async (job: Job): Promise<PageContent | undefined> => {
    clearTimeout(idle);
    worker ??= startWorker();
    const answer = await answerOf(worker, job, limits);
    if (answer === undefined) await end();
    else idle = setTimeout(() => void end(), IDLE_MS).unref();
    return answer;
  };

  return {
    read: async (job, signal) => {
      const turn = last.then(() => (signal.aborted ? undefined : perform(job)));
      last = turn.catch(() => undefined);
      return (await abortable(turn, signal)) ?? TOO_LARGE;
    },
    close: end,
  };
}

function startWorker(): Worker {
  const worker = new Worker(ENTRY, {
    // Parsers print warnings; our stdout carries the protocol.
    stdout: true,
    stderr: true,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  return worker;
}

/** Undefined if the thread has to be ended. Its limits bound the heap only, so the process is watched as well. */
function answerOf(worker: Worker, job: Job, limits: ReadingLimits): Promise<PageContent | undefined> {
  const { promise, resolve } = Promise.withResolvers<PageContent | undefined>();
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > limits.readMemoryBytes) resolve(undefined);
  }, MEMORY_CHECK_MS);
  const timeout = setTimeout(() => resolve(undefined), limits.readMs);
  const fail = (): void => resolve(undefined);
  worker.once("message", resolve).once("error", fail).once("exit", fail);
  // A copy of its own: the pool that small buffers share cannot be transferred.
  const bytes = Uint8Array.from(job.bytes);
  worker.postMessage({ ...job, bytes }, [bytes.buffer]);
  return promise.finally(() => {
    clearInterval(watch);
    clearTimeout(timeout);
    worker.off("message", resolve).off("error", fail).off("exit", fail);
  });
}
