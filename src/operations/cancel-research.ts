/** `cancel_research`: stops a run of any kind and keeps its partial results, or deletes it for good. */

import { z } from "zod";
import { costFields } from "../costs/actual.ts";
import { AppError, invalidInput } from "../errors.ts";
import { isoTime } from "../platform/clock.ts";
import type { DeletedAtGoogle, DeleteDeps, DeleteRequest } from "../runs/deletion/delete-run.ts";
import { readStored } from "../runs/history/read.ts";
import { isFinished, type Run, aboutRun } from "../runs/run.ts";
import { factLines } from "./parts/answer-text.ts";
import { costSchema } from "./view/run-view.ts";
import { requireConsent } from "./parts/cost-confirmation.ts";
import { dollars } from "../costs/dollars.ts";
import { stopMessage, stopRun } from "./parts/stop-run.ts";
import { defineOperation, flagField, hashOfInput, outputSchema, type Question, taskIdField } from "./operation.ts";

export const cancelResearch = defineOperation({
  name: "cancel_research",
  title: "Cancel research",
  description:
    "Stops a run, here and at Google, whichever client started it. For answers no longer wanted. What was found is kept; delete removes the run for good. Takes up to 5 s, free; what Google has charged stays charged.",
  input: z.strictObject({
    task_id: taskIdField,
    save_partial: flagField("save_partial").default(true).describe("Keep what was found so far."),
    delete: flagField("delete").default(false).describe("Delete the run and its report, after asking the user."),
    delete_at_google: flagField("delete_at_google").default(false).describe("With delete: Google's copy too."),
  }),
  output: outputSchema({
    deleted_at_google: z.boolean().describe("True when Google no longer has a copy."),
    confirmed: z.boolean().describe("False when Google has not confirmed the stop yet."),
    partial_results_saved: z.boolean(),
    progress_at_cancellation: z.number(),
    ...costSchema,
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  positional: "task_id",
  question: async (deps, input, call) =>
    input.delete ? deletionQuestion(await deps.findRun(call.owner, input.task_id), input) : undefined,
  run: async (deps, input, call) => {
    const { delete: remove, delete_at_google: atGoogle } = input;
    if (atGoogle && !remove) throw withoutDelete();
    if (remove) requireConsent(call, deletionQuestion(await deps.findRun(call.owner, input.task_id), input));
    const db = await deps.database();
    // A cancel waits for nothing that only a deletion needs.
    const deletion = async () => {
      const [agent, { costOf }] = [await deps.agent(), await deps.recorder()];
      const deleting = { ...deps, db, agent, costOf, maxRps: deps.settings.maxRps };
      return deleteFor(deleting, { owner: call.owner, taskId: input.task_id, atGoogle });
    };
    if (remove && isFinished((await deps.findRun(call.owner, input.task_id)).status)) {
      return deletedRun(input.task_id, await deletion());
    }
    const run = await stopRun(deps, { owner: call.owner, taskId: input.task_id, keepPartial: input.save_partial });
    if (remove) {
      if (run.status !== "cancelled") throw notDeleted(run);
      return deletedRun(run.taskId, await deletion());
    }
    const { result, plan } = await readStored(db, call.owner, run.taskId);
    const saved = run.status === "cancelled" && (result !== undefined || plan !== undefined);
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      confirmed: run.status === "cancelled" ? (run.cancelConfirmed ?? true) : undefined,
      partial_results_saved: saved,
      progress_at_cancellation: run.progress,
      ...costFields(run.cost),
      message: stopMessage(run),
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

/** A report that was paid for is gone for good: a model, or a page that it read, does not decide that. */
function deletionQuestion(
  { taskId, status, createdAt, cost }: Run,
  input: { delete_at_google: boolean } & Record<string, unknown>,
): Question {
  const hasEnded = isFinished(status);
  const action = hasEnded ? "Delete" : "Cancel and delete";
  const price = cost.usd === undefined ? "" : `, ${dollars(cost.usd)}`;
  const where = input.delete_at_google ? ", here and at Google" : "";
  return {
    ask: `${action} run ${taskId.slice(0, 8)} (${isoTime(createdAt).slice(0, 10)}${price}) permanently${where}?`,
    because: "A deleted run and its report cannot be recovered.",
    command: `delete ${taskId.slice(0, 8)}`,
    undone: "Nothing was deleted.",
    details: {},
    // A yes to stopping it is none to deleting the report that has arrived meanwhile.
    subject: { operation: "cancel_research", input: hashOfInput({ ...input, hasEnded }), run: taskId },
  };
}

async function deleteFor(deps: DeleteDeps, request: DeleteRequest): Promise<DeletedAtGoogle> {
  const { deleteFinishedRun } = await import("../runs/deletion/delete-run.ts");
  return deleteFinishedRun(deps, request);
}

const deletedRun = (task_id: string, atGoogle: DeletedAtGoogle) => ({
  success: true,
  task_id,
  status: "deleted" as const,
  deleted_at_google: atGoogle,
  message: `The run is deleted${atGoogle === true ? ", here and at Google" : ""}. Saved files are kept.`,
});

/** A report that was finished before the cancel is not deleted either: it was paid for and has not been read. */
const notDeleted = (run: Run): AppError => {
  const ended = isFinished(run.status);
  return new AppError({
    code: run.status === "completed" ? "RESEARCH_ALREADY_COMPLETED" : "RESEARCH_NOT_COMPLETED",
    message: `${stopMessage(run)} It was not deleted.`,
    suggestion: ended ? "It has ended now, so delete it again." : "Delete it again in a minute.",
    run: aboutRun(run),
  });
};

const withoutDelete = (): AppError =>
  invalidInput("A run can be deleted at Google only if it is deleted here, too.", {
    suggestion: "Delete it in both places, or nowhere.",
    field: "delete_at_google",
  });
