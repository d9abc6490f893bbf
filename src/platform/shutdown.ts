/** The one way out: calls are stopped, what they hold is given back, and the process ends in time. */

export interface Shutdown {
  /** Aborted when the process begins to leave. */
  signal: AbortSignal;
  leaving(): boolean;
  /** Work that must have ended, one way or the other, before the process may. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Steps run last to first, after all work. */
  finally(step: () => Promise<void> | void): void;
  /** Never resolves: the process ends with this code. */
  leave(exitCode?: number): Promise<void>;
}

/** Children get 1 s to stop; a paid request in flight gets 2.5 s (A8: everything within 3.5 s). */
const WORK_MS = 2_500;
const STEPS_MS = 700;

export function createShutdown(exit: (code: number) => void = (code) => process.exit(code)): Shutdown {
  const controller = new AbortController();
  const working = new Set<Promise<unknown>>();
  const steps: (() => Promise<void> | void)[] = [];
  return {
    signal: controller.signal,
    leaving: () => controller.signal.aborted,
    during: (work) => {
      working.add(work);
      const done = (): void => void working.delete(work);
      work.then(done, done);
      return work;
    },
    finally: (step) => void steps.push(step),
    leave: async (exitCode = 0) => {
      if (controller.signal.aborted) return;
      controller.abort();
      await atMost(WORK_MS, allEnded(working));
      await atMost(STEPS_MS, runAll(steps.toReversed()));
      exit(exitCode);
    },
  };
}

/** Also what is begun while the rest is waited for. */
async function allEnded(working: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (working.size > 0) await Promise.allSettled(working);
}

async function runAll(steps: (() => Promise<void> | void)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch {
      // One step that fails must not keep the others from giving back what they hold.
    }
  }
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}

const ENDING_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export function leaveOnSignals(shutdown: Shutdown, exitCode: (signal: string) => number): void {
  for (const name of ENDING_SIGNALS) process.on(name, () => void shutdown.leave(exitCode(name)));
}
