/** Graceful shutdown within a time limit: aborts calls, waits for running work, then runs the registered steps. */

import { waitAtMost } from "./clock.ts";

export interface Shutdown {
  /** Aborted when the shutdown begins. */
  signal: AbortSignal;
  leaving(): boolean;
  /** Registers work that the shutdown waits for. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Registers a step that runs after all work; the last registered step runs first. */
  finally(step: () => Promise<void> | void): void;
  /** Shuts down; the process ends with this code. */
  leave(exitCode?: number): Promise<void>;
}

/** Child processes get 1 s to stop, a paid request in flight 2.5 s (A8: everything within 3.5 s). */
const MAX_WORK_MS = 2_500;
const MAX_STEPS_MS = 700;

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
      await waitAtMost(MAX_WORK_MS, allEnded(working));
      await waitAtMost(MAX_STEPS_MS, runAll(steps.toReversed()));
      exit(exitCode);
    },
  };
}

/** Also waits for work that is registered meanwhile. */
async function allEnded(working: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (working.size > 0) await Promise.allSettled(working);
}

async function runAll(steps: (() => Promise<void> | void)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch {
      // A step that fails must not prevent the others from releasing their resources.
    }
  }
}

const TERMINATION_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export function leaveOnSignals(shutdown: Pick<Shutdown, "leave">, exitCode: (signal: string) => number): void {
  for (const name of TERMINATION_SIGNALS) process.on(name, () => void shutdown.leave(exitCode(name)));
}

/**
 * The exit of a server in a process that another program owns: it only sets the exit code, and the process ends when its
 * owner or its event loop does. A signal was meant for the process, so after the shutdown it has its usual effect.
 */
export function createGuestExit(): (code: number) => void {
  let received: NodeJS.Signals | undefined;
  for (const name of TERMINATION_SIGNALS) process.once(name, () => (received ??= name));
  return (code) => {
    process.exitCode = code;
    if (received === undefined) return;
    process.removeAllListeners(received);
    process.kill(process.pid, received);
  };
}
