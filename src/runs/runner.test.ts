import { expect, test, vi } from "vitest";
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
