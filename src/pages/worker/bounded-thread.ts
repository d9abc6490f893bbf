/** Runs jobs in a worker thread, one at a time, and ends the thread if a job takes too much time or memory. */

import { Worker } from "node:worker_threads";
import { abortable } from "../abortable.ts";

export interface BoundedThread<Job, Answer> {
  /** Undefined if the job took too much time or memory. */
  run(job: Job, signal: AbortSignal): Promise<Answer | undefined>;
  close(): Promise<void>;
}

interface ThreadOptions<Job> {
  /** The file of the thread; it answers each message with one message. */
  entry: URL;
  maxMs: number;
  /** Growth of the process during a job. */
  maxMemoryBytes: number;
  /** What is sent for a job, and which of its buffers are moved to the thread. */
  messageOf?: (job: Job) => { message: unknown; transfer: ArrayBuffer[] };
}

const MEMORY_CHECK_MS = 20;
const IDLE_MS = 5_000;

export function createBoundedThread<Job, Answer>(options: ThreadOptions<Job>): BoundedThread<Job, Answer> {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  };
  const perform = async (job: Job): Promise<Answer | undefined> => {
    clearTimeout(idle);
    worker ??= startWorker(options.entry);
    const answer = await answerOf<Job, Answer>(worker, job, options);
    if (answer === undefined) await end();
    else idle = setTimeout(() => void end(), IDLE_MS).unref();
    return answer;
  };

  return {
    run: (job, signal) => {
      const turn = last.then(() => (signal.aborted ? undefined : perform(job)));
      last = turn.catch(() => undefined);
      return abortable(turn, signal);
    },
    close: end,
  };
}

function startWorker(entry: URL): Worker {
  const worker = new Worker(entry, {
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
function answerOf<Job, Answer>(
  worker: Worker,
  job: Job,
  { maxMs, maxMemoryBytes, messageOf = (message) => ({ message, transfer: [] }) }: ThreadOptions<Job>,
): Promise<Answer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > maxMemoryBytes) resolve(undefined);
  }, MEMORY_CHECK_MS);
  const timeout = setTimeout(() => resolve(undefined), maxMs);
  const fail = (): void => resolve(undefined);
  worker.once("message", resolve).once("error", fail).once("exit", fail);
  const { message, transfer } = messageOf(job);
  worker.postMessage(message, transfer);
  return promise.finally(() => {
    clearInterval(watch);
    clearTimeout(timeout);
    worker.off("message", resolve).off("error", fail).off("exit", fail);
  });
}
