import { once } from "node:events";
import { expect, test } from "vitest";
import { clock, openRunner } from "../../../test/kit/store/runner.ts";
import { insertRun } from "../../../test/kit/store/store-rows.ts";
import { AppError } from "../../errors.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import { polledRun } from "../../../test/kit/store/polled.ts";
import { pollRun } from "./poll.ts";

test("a quick poll for late usage does not wait for a slow answer (P6)", async (context) => {
  const stage = await openRunner(context);
  const { db } = stage.store;
  const now = clock.now();
  await insertRun(db, {
    task_id: "a",
    status: "completed",
    interaction_id: "v1_a",
    next_poll_at: 0,
    completed_at: now,
  });
  const run = await polledRun(db);
  expect(run.status).toBe("completed");
  const poll = async (_id: string, signal: AbortSignal): Promise<PollResult> => {
    await once(signal, "abort");
    return { kind: "unreachable", error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "aborted" }) };
  };
  expect(await pollRun(stage.deps({ poll }), run, "quick")).toEqual({ next: "slow" });
  const limited = stage.deps({ poll: async () => ({ kind: "rate_limited", retryAfterMs: 7_000 }) });
  expect(await pollRun(limited, run, "quick")).toMatchObject({ pauseMs: 7_000 });
});
