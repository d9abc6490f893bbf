/** Reports that Google calls completed although they are none, or have a defect that their reader must know. */

import { expect, test } from "vitest";
import type { Interaction } from "../../gemini/research-agent.ts";
import { clock, FINISHED, openRunner, request } from "../../../test/kit/store/runner.ts";
import { claimDueRuns } from "../scheduling/claim-store.ts";
import { findResult } from "../result-store.ts";
import { findRun } from "../run-store.ts";
import { startResearch } from "../start/start.ts";
import { pollRun } from "./poll.ts";

type Context = Parameters<typeof openRunner>[0];

/** A run whose only poll returns this report. */
async function completedWith(context: Context, interaction: Partial<Interaction>, query = request.query) {
  const stage = await openRunner(context);
  const { db, processId } = stage.store;
  const { taskId, ...started } = await startResearch(stage.deps(), { ...request, query, forceNew: true });
  if (started.kind === "started") await started.sending;
  await db.updateTable("research_tasks").set({ next_poll_at: 0 }).execute();
  const now = clock.now();
  const found = { kind: "found" as const, interaction: { ...FINISHED, ...interaction } };
  for (const run of await claimDueRuns(db, { processId, limit: 9, now, nextPollAt: now + 1 })) {
    await pollRun(stage.deps({ poll: async () => found }), run);
  }
  return { run: await findRun(db, request.owner, taskId), result: await findResult(db, taskId) };
}

test("a placeholder or an echo of the question fails the run, and its text is kept (W5)", async (context) => {
  const query = "What is known about the depth of the lakes of Kestria?";
  for (const report of ["[Insert the report here]", query]) {
    const { run, result } = await completedWith(context, { report, citations: [] }, query);
    expect(run).toMatchObject({ status: "failed", error: { code: "RESEARCH_FAILED" } });
    expect(run.error?.message).toMatch(/sent no report\. What it sent is kept/);
    expect(result).toMatchObject({ report, partial: true });
  }
});

test("a report twice or without any source is completed with a warning (W5)", async (context) => {
  const once = `# Lakes\n\n${Array.from({ length: 12 }, (_, n) => `Lake ${n} is ${n * 7} metres deep, as its survey says.`).join(" ")}`;
  const ungrounded = { sources: [], citations: [], searches: [] };
  const { run, result } = await completedWith(context, { report: `${once}\n\n${once}`, ...ungrounded });
  expect(run.status).toBe("completed");
  expect(run.currentAction).toBe("Completed with a warning: The report contains its text twice: read the first half.");
  expect(result).toMatchObject({ report: `${once}\n\n${once}`, partial: false });
  expect(result?.metadata["note"]).toMatch(/twice.*No web page was found or opened/);
  const good = await completedWith(context, { report: once, searches: ["lakes"] });
  expect(good.run.currentAction).toBeUndefined();
  expect(good.result?.metadata).not.toHaveProperty("note");
});
