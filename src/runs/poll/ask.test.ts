import { expect, test } from "vitest";
import { clock, openRunner, request } from "../../../test/kit/store/runner.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import { polledRun } from "../../../test/kit/store/polled.ts";
import { startResearch } from "../start/start.ts";
import { ask, POLLS_BEFORE_EXPIRED } from "./ask.ts";

const HOUR_MS = 3_600_000;

test.for([
  [0, 24, POLLS_BEFORE_EXPIRED],
  [2_000, 24, POLLS_BEFORE_EXPIRED],
  [0, 23, 1],
] as const)(
  "a 404 that takes %i ms, on an interaction of %i hours, is an answer after %i polls (P3)",
  async ([latencyMs, hours, expected], context) => {
    const stage = await openRunner(context);
    let polls = 0;
    const poll = async (): Promise<PollResult> => {
      polls += 1;
      await clock.sleep(latencyMs);
      return { kind: "missing" };
    };
    const started = await startResearch(stage.deps(), request);
    if (started.kind === "started") await started.sending;
    const { db } = stage.store;
    await db
      .updateTable("research_tasks")
      .set({ next_poll_at: 0, created_at: clock.now() - 48 * HOUR_MS })
      .execute();
    await db
      .updateTable("research_attempts")
      .set({ created_at: clock.now() - hours * HOUR_MS, sent_at: clock.now() - hours * HOUR_MS })
      .execute();
    const run = await polledRun(db);
    expect(await ask(stage.deps({ poll }), run, "slow")).toEqual({ kind: "missing" });
    expect(polls).toBe(expected);
  },
);
