import { expect, test } from "vitest";
import type { StreamRequest } from "../../gemini/research-agent.ts";
import { openAgent, started } from "../../../test/kit/simulator/agent-stage.ts";
import { onPostgres } from "../../../test/kit/store/databases.ts";
import { clock as fastClock, openRunner } from "../../../test/kit/store/runner.ts";
import { insertRun } from "../../../test/kit/store/store-rows.ts";
import { createRunner } from "./runner.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

test("a stream that is no longer watched makes room for one that is watched (J3)", async (t) => {
  const stage = await openRunner(t);
  const open = new Map<string, AbortSignal>();
  const stream = ({ interactionId, signal }: StreamRequest): Promise<void> => {
    open.set(interactionId, signal);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  const runner = createRunner({
    deps: stage.deps({ stream }),
    pollIntervalMs: 1_000,
    maxRps: 5,
    deliver: async () => 0,
  });
  const watch = (n: number) =>
    runner.watch({ taskId: `task-${n}`, interactionId: `v1_${n}`, model: "an-agent", part: "question" });
  const leaves = Array.from({ length: 32 }, (_, n) => watch(n));
  // Each opening takes a permit of the rate, which PostgreSQL counts in real time.
  await waitFor(() => expect(open.size).toBe(32));
  expect(watch(32)).toBeUndefined();
  const second = watch(0);
  leaves[0]?.();
  expect(open.get("v1_0")?.aborted).toBe(false);
  second?.();
  expect(open.get("v1_0")?.aborted).toBe(false);
  expect(watch(32)).toBeTypeOf("function");
  expect(open.get("v1_0")?.aborted).toBe(true);
  expect(watch(33)).toBeUndefined();
});

test("a pause of fractions of a second, as Google sends it in a body, applies to all polls (P4)", async (t) => {
  const { store, deps } = await openRunner(t);
  const google = await openAgent({ error_form: "google", get: [{ fault: "http-429", retry_after: "34.074824224" }] });
  const interaction_id = await started(google);
  await insertRun(store.db, { task_id: "a", interaction_id, next_poll_at: 0 });
  const began = onPostgres ? Date.now() : fastClock.now();
  createRunner({ deps: deps(google.agent), pollIntervalMs: 1_000, maxRps: 5, deliver: async () => 0 }).start();
  await waitFor(async () => {
    const { lease_until } = await store.db.selectFrom("leases").select("lease_until").executeTakeFirstOrThrow();
    expect(lease_until - began).toBeGreaterThan(34_000);
  });
});
