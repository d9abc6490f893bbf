/** A sender of paid starts, with a manual clock. */

import type { TestContext } from "vitest";
import { AppError } from "../../../src/errors.ts";
import type { StartRequest, StartOutcome } from "../../../src/gemini/research-agent.ts";
import { startResearch } from "../../../src/runs/start/start.ts";
import { openRunner, request } from "../store/runner.ts";
import { createTestLog } from "../log.ts";

export const error = new AppError({
  code: "GEMINI_UNAVAILABLE",
  message: "The connection to Google's service failed.",
});
export const NOT_SENT: StartOutcome = { kind: "not_sent", error };
export const LOST: StartOutcome = { kind: "unknown", why: "The connection broke." };
export const TAKEN: StartOutcome = { kind: "accepted", interactionId: "v1_taken" };
export const busy = (retryAfterMs: number | undefined): StartOutcome => ({ kind: "rate_limited", retryAfterMs, error });

/** Google's responses in order; the last one repeats. */
export async function openSender(context: Pick<TestContext, "onTestFinished">, answers: StartOutcome[]) {
  const stage = await openRunner(context);
  const began = 1_000_000;
  let now = began;
  const sent: StartRequest[] = [];
  const sentAt: number[] = [];
  const lines: string[] = [];
  const leaving = new AbortController();
  const duties: Promise<unknown>[] = [];
  const asleep: (() => Promise<void> | void)[] = [];
  const research = {
    ...stage.deps({
      fingerprint: { key: "a-key", baseUrl: "https://google.test" },
      start: async (wish) => {
        const refusal = await wish.checkBeforeSending();
        if (refusal !== undefined) return { kind: "withheld", error: refusal };
        sent.push(wish);
        sentAt.push(now - began);
        return answers[Math.min(sent.length, answers.length) - 1] ?? LOST;
      },
    }),
    clock: {
      now: () => now,
      monotonic: () => now,
      // Each pause runs the next callback of `asleep`, and ends there if that aborts it.
      sleep: async (ms: number, signal?: AbortSignal) => {
        await asleep.shift()?.();
        signal?.throwIfAborted();
        now += ms;
      },
    },
    log: createTestLog((line) => lines.push(line), "ERROR"),
    leaving: leaving.signal,
    during: <T>(work: Promise<T>): Promise<T> => {
      duties.push(work);
      return work;
    },
  };
  const start = async (
    wish: Partial<typeof request> & { notice?: string; signal?: AbortSignal } = {},
  ): Promise<string> => {
    const started = await startResearch(research, { ...request, ...wish });
    if (started.kind === "started") await started.sending;
    return started.taskId;
  };
  const pass = (ms: number): void => void (now += ms);
  const { db } = stage.store;
  return { ...stage, research, sent, sentAt, lines, leaving, duties, asleep, start, pass, db, began };
}

export type Sender = Awaited<ReturnType<typeof openSender>>;

/** Makes the store reject writes once Google has responded. */
export const breakStore = (sender: Sender): void => {
  const { start: begin } = sender.research.agent;
  sender.research.agent.start = async (wish) => {
    const begun = await begin(wish);
    await sender.refuseWrites();
    return begun;
  };
};
