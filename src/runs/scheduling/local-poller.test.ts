import { expect, test } from "vitest";
import { clock, openRunner } from "../../../test/kit/store/runner.ts";
import { insertRun, rowOf } from "../../../test/kit/store/store-rows.ts";
import { AppError } from "../../errors.ts";
import type { PollResult } from "../../gemini/research-agent.ts";
import { claimDueRuns, settlePoll } from "./claim-store.ts";
import { pollRun } from "../poll/poll.ts";
import { settlingOf } from "./local-poller.ts";

test.for(["failed", "cancelled"] as const)(
  "a poll of a %s run that Google does not answer is settled like any other (J3)",
  async (status, context) => {
    const stage = await openRunner(context);
    const { db, processId } = stage.store;
    const now = clock.now();
    await insertRun(db, { task_id: "a", status, next_poll_at: 0, deadline_at: now + 3_600_000 });
    const [run] = await claimDueRuns(db, { processId, limit: 1, now, nextPollAt: now + 1 });
    if (run === undefined) throw new Error("Nothing was due.");
    const away: PollResult = {
      kind: "unreachable",
      error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "away" }),
    };
    const outcome = await pollRun(stage.deps({ poll: async () => away }), run);
    expect(outcome.seen).toBeDefined();
    await settlePoll(db, run, settlingOf(run, outcome, now));
    expect(await rowOf(db, "a")).toMatchObject({ status, lease_until: null, next_poll_at: now + 1 });
  },
);
