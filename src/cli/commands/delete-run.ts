/** `delete`: deletes a run after confirmation at the terminal, or with `--yes`. */

import { AppError } from "../../errors.ts";
import { cancelResearch } from "../../operations/cancel-research.ts";
import { questionFor } from "../../operations/perform.ts";
import { oneLine } from "../../platform/clean-text.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import { askTerminal, saysYes } from "../confirm.ts";
import { type Confirmation, runOperation } from "../run-operation.ts";
import type { TerminalView } from "../render/answer-view.ts";
import type { Cancelled } from "../render/answers/run-views.ts";
import { cutToWidth } from "../render/text-width.ts";

export interface DeleteCommand {
  taskId: string;
  atGoogle: boolean;
  yes: boolean;
  json: boolean;
}

export async function deleteFromTerminal({ taskId, atGoogle, yes, json }: DeleteCommand): Promise<void> {
  const input = { task_id: taskId, delete: true, delete_at_google: atGoogle };
  await runOperation(cancelResearch, {
    input,
    json,
    wait: false,
    yes,
    flags: {},
    confirm: confirmDeletion,
    view: deletedView,
  });
}

const deletedView: TerminalView<Cancelled> = async (output, space) => {
  const { cancelledView } = await import("../render/answers/run-views.ts");
  return cancelledView(output, space);
};

/** Names the run by its question too, which a dialog of an MCP client must not show. */
export const confirmDeletion: Confirmation = async (deps, { input, call, canAsk }) => {
  if (!canAsk) {
    throw new AppError({
      code: "CONFIRMATION_NEEDED",
      message: "Not running interactively, so nothing was deleted. Add --yes to delete it.",
    });
  }
  const run = await deps.findRun(call.owner, String(input["task_id"]));
  const question = await questionFor(cancelResearch, deps, { input, call });
  const where = input["delete_at_google"] === true ? ", here and at Google" : "";
  const answer = await askTerminal(`${questionAbout(run)} permanently${where}? [y/N] `, call.signal);
  if (!saysYes(answer)) throw new AppError({ code: "DECLINED", message: "Nothing was deleted." });
  return question?.subject;
};

const MAX_QUESTION_WIDTH = 60;

/** An unfinished run is stopped first. */
export function questionAbout({ taskId, query, status }: Pick<Run, "taskId" | "query" | "status">): string {
  const action = isFinished(status) ? "Delete" : "Stop and delete";
  return `${action} run ${taskId.slice(0, 8)} "${cutToWidth(oneLine(query), MAX_QUESTION_WIDTH)}"`;
}
