import { expect, test } from "vitest";
import { clock, FINISHED, openStage, request, WORKING } from "../../test/support/research-deps.ts";
import { cancelRun } from "./cancel.ts";
import { claimDueRuns } from "./claim-store.ts";
import { finishAgentRun } from "./follow-store.ts";
import { resultOf } from "./agent-result.ts";
import { findResult } from "./result-store.ts";
import { startResearch } from "./start.ts";

test("L2: a report that is finished in the last moment of a cancel is kept, also when nothing partial was wanted", async (t) => {
  const { store, deps } = await openStage(t);
  const { db, processId } = store;
  const research = deps({ look: async () => ({ kind: "found", interaction: WORKING }) });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  const finish = async (): Promise<void> => {
    const now = clock.now();
    const [run] = await claimDueRuns(db, { processId, limit: 1, now, nextPollAt: now + 60_000 });
    if (run === undefined) throw new Error("The run was not due.");
    const result = resultOf(FINISHED, { partial: false });
    const figures = { tokens: undefined, costUsd: undefined, usageFinal: true, nextPollAt: undefined };
    await finishAgentRun(db, { run, to: "completed", result, raw: {}, error: undefined, ...figures, now });
  };
  // Between the last look at the run and the write that would end it, the cancel asks who holds the lease.
  let finished = false;
  const racing = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      const asksForHolder = Object.keys(result.rows[0] ?? {}).join() === "lease_owner";
      if (asksForHolder && !finished) {
        finished = true;
        await finish();
      }
      return result;
    },
  });
  const run = await cancelRun(
    { db: racing, clock, agent: undefined, lookNow: () => {} },
    { owner: "local", taskId, keepPartial: false },
  );
  expect(run.status).toBe("completed");
  expect((await findResult(db, taskId))?.report).toBe(FINISHED.report);
});
