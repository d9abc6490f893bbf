/** `delete`: removes a run after a question at the terminal, or with `--yes`. */

import { cancelResearch } from "../operations/cancel-research.ts";
import { askTerminal, saysYes } from "./confirm.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { print, printFailure } from "./output.ts";
import { runOperation } from "./run-operation.ts";

export interface DeleteCommand {
  taskId: string;
  atGoogle: boolean;
  yes: boolean;
  json: boolean;
}

export async function deleteFromTerminal({ taskId, atGoogle, yes, json }: DeleteCommand): Promise<void> {
  const refusal = yes ? undefined : await refusalOf(taskId, atGoogle);
  if (refusal !== undefined) {
    await printFailure(refusal.message);
    if (json) await print(JSON.stringify({ success: false, error: refusal }, null, 2));
    process.exitCode = EXIT_CODES.failed;
    return;
  }
  const input = { task_id: taskId, delete: true, delete_at_google: atGoogle };
  await runOperation(cancelResearch, { input, json, wait: false, yes: true, flags: {} });
}

async function refusalOf(taskId: string, atGoogle: boolean): Promise<{ code: string; message: string } | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    return { code: "CONFIRMATION_NEEDED", message: "Nothing was deleted: give --yes where no question can be asked." };
  }
  const where = atGoogle ? "here and at Google" : "here";
  const answer = await askTerminal(`Delete run ${taskId} for good, ${where}? [y/N] `, new AbortController().signal);
  return saysYes(answer) ? undefined : { code: "DECLINED", message: "Nothing was deleted." };
}
