import { expect, test, vi } from "vitest";
import type { FollowRequest } from "../gemini/agent.ts";
import { openStage } from "../../test/support/research-deps.ts";
import { createRunner } from "./runner.ts";

const SWEEP_MS = 5_000;

test("P2: one that is woken between two sweeps does not sleep past the next", async (t) => {
  const stage = await openStage(t);
  let now = Date.UTC(2026, 0, 1);
  const slept: number[] = [];
  const clock = {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) => {
      slept.push(ms);
      return new Promise<void>((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("woken")), { once: true });
      });
    },
  };
  const deps = { ...stage.deps(), clock };
  const runner = createRunner({ deps, pollIntervalMs: 1_000, maxRps: 5, deliver: async () => 0 });
  runner.start();
  await vi.waitFor(() => expect(slept).toEqual([SWEEP_MS]));
  now += 4_000;
  runner.wake();
  await vi.waitFor(() => expect(slept).toEqual([SWEEP_MS, 1_000]));
});

test("J3: a stream lasts as long as somebody watches, and its place is free afterwards", async (t) => {
  const stage = await openStage(t);
  const open = new Map<string, AbortSignal>();
  const follow = ({ interactionId, signal }: FollowRequest): Promise<void> => {
    open.set(interactionId, signal);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  const runner = createRunner({
    deps: stage.deps({ follow }),
    pollIntervalMs: 1_000,
    maxRps: 5,
    deliver: async () => 0,
  });
  const watch = (n: number) =>
    runner.watch({ taskId: `task-${n}`, interactionId: `v1_${n}`, agent: "an-agent", createdAt: 0 });
  const leaves = Array.from({ length: 32 }, (_, n) => watch(n));
  await vi.waitFor(() => expect(open.size).toBe(32));
  expect(watch(32)).toBeUndefined();
  const second = watch(0);
  leaves[0]?.();
  expect(open.get("v1_0")?.aborted).toBe(false);
  second?.();
  expect(open.get("v1_0")?.aborted).toBe(true);
  expect(watch(32)).toBeTypeOf("function");
});
