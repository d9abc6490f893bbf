/** What follows when Google refuses to continue an interaction, on both databases. */

import { expect, test } from "vitest";
import { error, openSender, TAKEN } from "../../../test/kit/simulator/sender.ts";
import { request } from "../../../test/kit/store/runner.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { AppError } from "../../errors.ts";
import type { StartOutcome } from "../../gemini/research-agent.ts";
import { attemptsOf } from "../attempt-store.ts";
import type { StoredReportContext } from "./fallback.ts";
import { startResearch } from "./start.ts";

const MODEL = "gemini-3.1-pro-preview";
const FORGOTTEN: StartOutcome = { kind: "refused", status: 404, error: new AppError({ ...error, reason: "config" }) };

async function openFollowup(
  context: Parameters<typeof openSender>[0],
  { outcome, report }: { outcome: StartOutcome; report: (taskId: string) => Promise<StoredReportContext | undefined> },
) {
  const sender = await openSender(context, [TAKEN, outcome, { kind: "accepted", interactionId: "v1_second" }]);
  const parentTaskId = await sender.start();
  const ask = async (): Promise<string> => {
    const readStoredReport = async () => report(sender.sent.at(-1)?.labels["run"] ?? "");
    const started = await startResearch(sender.research, {
      ...request,
      agent: MODEL,
      query: "Why?",
      variant: { model: MODEL, previousInteractionId: "v1_taken" },
      parentTaskId,
      followup: { context: "google", readStoredReport },
    });
    if (started.kind === "started") await started.sending;
    return started.taskId;
  };
  return { ...sender, parentTaskId, ask };
}

const statesOf = async (db: Parameters<typeof attemptsOf>[0], taskId: string) =>
  (await attemptsOf(db, taskId)).map(({ state }) => state).toSorted();

test("a forgotten interaction is followed by one attempt with the stored report, whose text is not stored (V1)", async (context) => {
  const stored = { input: "The report. Why?", notice: "Only a part." };
  const sender = await openFollowup(context, { outcome: FORGOTTEN, report: async () => stored });
  const taskId = await sender.ask();
  expect(sender.sent.slice(1).map(({ variant }) => variant)).toEqual([
    { model: MODEL, previousInteractionId: "v1_taken" },
    { model: MODEL, input: stored.input },
  ]);
  const row = await rowOf(sender.db, taskId);
  expect(row).toMatchObject({
    status: "running_async",
    interaction_id: "v1_second",
    followup_context: "stored_report",
    parent_task_id: sender.parentTaskId,
  });
  expect(JSON.parse(row.options_json)).toMatchObject({ variant: { model: MODEL }, notice: stored.notice });
  expect(row.options_json).not.toMatch(/previousInteractionId|The report/);
  expect(await statesOf(sender.db, taskId)).toEqual(["accepted", "refused"]);
  // The same question joins it, although another request was accepted in the end.
  expect(await sender.ask()).toBe(taskId);
  expect(sender.sent).toHaveLength(3);
});

test.for([
  ["about the location", { kind: "refused", status: 400, error: new AppError({ ...error, reason: "location" }) }],
  ["about the key", { kind: "refused", status: 400, error: new AppError({ ...error, reason: "auth" }) }],
  ["for another reason", { kind: "refused", status: 403, error }],
  ["without a response", { kind: "unknown", why: "The connection broke." }],
] as const)("a refusal %s sends nothing else (V1)", async ([, outcome], context) => {
  const sender = await openFollowup(context, { outcome, report: async () => ({ input: "x", notice: undefined }) });
  const taskId = await sender.ask();
  expect(sender.sent).toHaveLength(2);
  expect(await rowOf(sender.db, taskId)).toMatchObject({ followup_context: "google", interaction_id: null });
});

test("a follow-up that was cancelled meanwhile, or whose report is gone, is not sent again (V1)", async (context) => {
  const cancelled = await openFollowup(context, {
    outcome: FORGOTTEN,
    report: async (taskId) => {
      await cancelled.db
        .updateTable("research_tasks")
        .set({ cancel_requested_at: 1 })
        .where("task_id", "=", taskId)
        .execute();
      return { input: "x", notice: undefined };
    },
  });
  const taskId = await cancelled.ask();
  expect(cancelled.sent).toHaveLength(2);
  expect(await statesOf(cancelled.db, taskId)).toEqual(["refused"]);
  const gone = await openFollowup(context, { outcome: FORGOTTEN, report: async () => undefined });
  expect(await rowOf(gone.db, await gone.ask())).toMatchObject({ status: "failed", followup_context: "google" });
  expect(gone.sent).toHaveLength(2);
});
