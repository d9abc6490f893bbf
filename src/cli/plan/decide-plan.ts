/** Asks at the terminal what to do with a plan: approve it, change it, or decide later. */

import type { App } from "../../app.ts";
import type { Results } from "../../operations/get-research-results.ts";
import type { Call } from "../../operations/operation.ts";
import { perform, refused } from "../../operations/perform.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import { answerSpace } from "../answer-space.ts";
import { followRun } from "../commands/follow-run.ts";
import { askTerminal, confirmCost } from "../confirm.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { type LogLines, print, printFailure } from "../output.ts";
import { printFailedOutcome } from "../print-error.ts";
import { resultsView } from "../render/answers/results-view.ts";
import { formatDollars } from "../render/durations.ts";
import { editPlan } from "./edit-plan.ts";

/** Whether the run waits for a decision that this terminal can ask for. */
export const asksForDecision = ({ plan, status }: Results): boolean =>
  plan !== undefined &&
  status === "awaiting_approval" &&
  process.stdin.isTTY &&
  process.stdout.isTTY &&
  process.stderr.isTTY;

interface Deciding {
  answer: Results;
  call: Call;
  log: LogLines;
}

type Decision = { approve: true } | { plan_edit: string };

/** Shows the plan, and each changed one, until it is approved or left. Returns the exit code. */
export async function decidePlan(app: App, { answer, call, log }: Deciding): Promise<number> {
  let shown = answer;
  for (;;) {
    await print(await resultsView(shown, answerSpace(app)));
    if (!asksForDecision(shown)) return EXIT_CODES.ok;
    const decision = await askDecision(app, shown, call);
    if (decision === undefined) return EXIT_CODES.ok;
    const seen = { ...call, shownPlanTurn: shown.plan_turn };
    const next = await carryOut(app, { input: { task_id: shown.task_id, ...decision }, call: seen, log });
    if ("exitCode" in next) return next.exitCode;
    shown = next.answer;
  }
}

async function askDecision(app: App, shown: Results, call: Call): Promise<Decision | undefined> {
  const { estimated_cost: cost } = shown;
  const price =
    cost === undefined ? "" : ` for about ${formatDollars(cost.likely_usd)} (up to ${formatDollars(cost.max_usd)})`;
  for (;;) {
    const answer = await askTerminal(`\nStart this research${price}? [approve / edit / later] `, call.signal);
    const word = answer.trim().toLowerCase();
    if (word === "a" || word === "approve") return { approve: true };
    if (word !== "e" && word !== "edit") return undefined;
    const change = await editPlan(app, shown.plan ?? "", call.signal);
    if (change !== undefined) return { plan_edit: change };
    await printFailure("The plan was not changed.");
  }
}

type Next = { answer: Results } | { exitCode: number };

async function carryOut(
  app: App,
  { input, call, log }: { input: { task_id: string } & Decision; call: Call; log: LogLines },
): Promise<Next> {
  const failed = async (outcome: Parameters<typeof printFailedOutcome>[0]): Promise<Next> => ({
    exitCode: await printFailedOutcome(outcome, { json: false }),
  });
  try {
    // The question above named the price of the research; a change has a price of its own.
    const agreed =
      "approve" in input || (await confirmCost(app.deps, { operation: resumeResearch, input, call, canAsk: true }));
    const begun = await perform(resumeResearch, app.deps, { input, call: { ...call, agreed } });
    if (begun.failed) return await failed(begun);
  } catch (error) {
    return failed(refused(error, app.deps));
  }
  const { isOver, outcome } = await followRun(app, { taskId: input.task_id, call, log });
  if (outcome.failed) return failed(outcome);
  return isOver ? { answer: outcome.structured } : { exitCode: EXIT_CODES.ok };
}
