/** `retry`: goes on with a run where that is possible; where it is not, asks its question again, with the price. */

import { createApp } from "../../app.ts";
import { LOCAL_CALLER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { CATALOG } from "../../operations/catalog.ts";
import type { OperationDeps } from "../../operations/operation.ts";
import { questionFor } from "../../operations/perform.ts";
import { wishesIn } from "../../operations/question/wishes.ts";
import { materialSent } from "../../operations/view/sent-material.ts";
import type { Run } from "../../runs/run.ts";
import { askTerminal, type Confirmation, saysYes } from "../confirm.ts";
import { printFailedOutcome } from "../print-error.ts";
import { refused } from "../../operations/perform.ts";
import type { Resumed } from "../render/answers/run-views.ts";
import { formatDollars } from "../../costs/dollars.ts";
import { type CommandCall, runOperation } from "../run-operation.ts";
import { findNamedRun } from "../run-name.ts";

export async function runRetry(command: CommandCall<Resumed>): Promise<void> {
  // It only reads the run, and closes the database: the operation has an app of its own.
  const app = createApp({ logFrom: "WARN", logTo: () => {}, maintains: false, exit: () => {} });
  const { task_id: name, ...decisions } = command.input;
  let run: Run | undefined;
  try {
    if (Object.values(decisions).every((value) => value === undefined || value === false)) {
      const { taskId } = await findNamedRun(app.deps, {
        owner: LOCAL_CALLER.owner,
        name: String(name),
        newest: "of any kind",
      });
      run = await app.deps.findRun(LOCAL_CALLER.owner, taskId);
    }
  } catch (error) {
    process.exitCode = await printFailedOutcome(refused(error, app.deps), command);
    return;
  } finally {
    await app.shutdown.leave();
  }
  const { json } = command;
  if (run === undefined || !isAskedAgain(run)) return runOperation(CATALOG.resume_research, command);
  const input = { query: run.query, ...wishesIn(run.options) };
  if (run.kind === "agent") {
    const { startedView } = await import("../render/answers/run-views.ts");
    const research = { ...input, ...(run.model === undefined ? {} : { model: run.model }), force_new: true };
    const wait = !json && process.stdout.isTTY && process.stderr.isTTY;
    const shown = { input: research, json, wait, yes: command.yes ?? false, confirm: confirmNewStart };
    return runOperation(CATALOG.start_deep_research, { ...shown, view: async (...given) => startedView(...given) });
  }
  const { deepSearchView, searchView } = await import("../render/answers/results-view.ts");
  if (run.kind === "deep_search") return runOperation(CATALOG.deep_search, { input, json, view: deepSearchView });
  return runOperation(CATALOG.search, { input, json, view: searchView });
}

/** Neither Google has something to collect, nor is there a finished round to go on from. */
function isAskedAgain(run: Run): boolean {
  if (run.status !== "failed" && run.status !== "cancelled") return false;
  if (run.kind === "search") return true;
  if (run.kind === "deep_search") return run.progress === 0;
  // A plan and a follow-up are parts of a conversation, and files were not kept to be sent again.
  const isPart = run.part === "plan" || run.part === "research" || run.followupContext !== undefined;
  if (run.kind !== "agent" || isPart || materialSent(run) !== undefined) return false;
  // One whose cancel Google has not confirmed may still be charged.
  return run.status === "cancelled" ? run.cancelConfirmed !== false : run.interactionId === undefined;
}

/** Asked whatever the price is: the user has not typed the question. */
const confirmNewStart: Confirmation = async (deps, { input, call, canAsk }) => {
  const question = await questionFor(CATALOG.start_deep_research, deps, { input, call });
  const price = await priceOf(deps, { query: String(input["query"]), model: input["model"] });
  if (!canAsk) {
    throw new AppError({
      code: "CONFIRMATION_NEEDED",
      message: `The research has to be started again, ${price}. Nothing was started.`,
      suggestion: "Add --yes to start it.",
    });
  }
  const asked = question?.ask ?? `Start the research again, ${price}?`;
  if (saysYes(await askTerminal(`${asked} [y/N] `, call.signal))) return question?.subject;
  throw new AppError({ code: "DECLINED", message: "Nothing was started or charged." });
};

async function priceOf(
  { estimate }: Pick<OperationDeps, "estimate">,
  { query, model }: { query: string; model: unknown },
): Promise<string> {
  const found = await estimate(query, String(model), LOCAL_CALLER.owner);
  if (found === undefined) return "at a price that is not known";
  return `for about ${formatDollars(found.usd.likely)} (up to ${formatDollars(found.usd.max)})`;
}
