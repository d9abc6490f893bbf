/** Follows a run until it ends: each read waits at the server for news, and errors are retried with growing pauses. */

import type { RunCardAnswer } from "../../wire.ts";
import { hasEnded, isUnfinished } from "../ui/format.ts";

/** Below the time limits of chat clients. */
const WAIT_SECONDS = 20;
/** Between two reads, so that a run with many events does not occupy the client. */
const PAUSE_MS = 1_000;
/** While the run waits for the user's decision, which the server does not wait for. */
const IDLE_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 30_000;

/** A call that is still running has not returned the id of its run: it is found by its question. */
export type Followed = { task_id: string } | { query: string };

export interface FollowOptions {
  read: (input: object) => Promise<RunCardAnswer>;
  onView: (answer: RunCardAnswer) => void;
  onProblem: (error: unknown) => void;
  /** Resolves at once when the signal is aborted. */
  sleep: (ms: number) => Promise<void>;
  /** Aborted at teardown, or when the card shows another run. */
  signal: AbortSignal;
}

export async function followRun(followed: Followed, options: FollowOptions): Promise<void> {
  const { read, onView, onProblem, sleep, signal } = options;
  let known: { task_id: string; cursor: string } | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const answer = await read(known === undefined ? followed : { ...known, wait_seconds: WAIT_SECONDS });
      if (isAborted(signal)) return;
      const { run, task_id, cursor } = answer;
      onView(answer);
      if (hasEnded(run.status)) return;
      known = { task_id, cursor };
      failures = 0;
      await sleep(isUnfinished(run.status) ? PAUSE_MS : IDLE_PAUSE_MS);
    } catch (error) {
      if (isAborted(signal)) return;
      failures += 1;
      onProblem(error);
      await sleep(Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** failures));
    }
  }
}

/** Read again, because it changes while the loop waits. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** Also waits while the card is not visible: a hidden card need not be current. */
export const createSleep =
  (signal: AbortSignal) =>
  async (ms: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
    if (!document.hidden || signal.aborted) return;
    await new Promise<void>((resolve) => {
      document.addEventListener("visibilitychange", () => resolve(), { once: true, signal });
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  };
