/** Asks the user at the terminal before a command that costs money, or gives up what was paid for. */

import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { costFields } from "../costs/actual.ts";
import { AppError } from "../errors.ts";
import { cancelResearch } from "../operations/cancel-research.ts";
import { askFollowup } from "../operations/followup/ask-followup.ts";
import type { Call, Operation, OperationDeps, Question } from "../operations/operation.ts";
import { clarificationFor, clarified, parseInput, questionFor } from "../operations/perform.ts";
import { isRefusal } from "../operations/question/vague-question.ts";
import type { Subject } from "../operations/question/subject.ts";
import { oneLine } from "../platform/clean-text.ts";
import { estimateOf } from "../runs/history/run-estimate.ts";
import { isFinished, type Run } from "../runs/run.ts";
import { printFailure, wrappedFor } from "./output.ts";
import { shortId } from "./render/answer-view.ts";
import { formatCost } from "./render/durations.ts";
import { formatDollars } from "../costs/dollars.ts";
import { cutToWidth } from "./render/text-width.ts";

interface Asking {
  operation: Operation;
  input: Record<string, unknown>;
  call: Call;
  /** Both stdin and stderr are terminals. */
  canAsk: boolean;
  /** With --yes: the user has agreed beforehand to what would be asked. */
  yes?: boolean;
}

/** Returns what the user agreed to, if there is a question; throws when the user declined or could not be asked. */
export async function confirmCost(
  deps: OperationDeps,
  { operation, input, call, canAsk, yes = false }: Asking,
): Promise<Subject | undefined> {
  const question = await questionFor(operation, deps, { input, call });
  if (question === undefined || yes) return question?.subject;
  if (!canAsk) throw cannotAsk(question);
  if (!saysYes(await askTerminal(`${question.ask} [y/N] `, call.signal))) throw declined(ABOUT_COSTS, question);
  return question.subject;
}

/** Asks once what a vague question means, if a user can answer; returns the input, with the answer if there is one. */
export async function askForDetails(
  deps: OperationDeps,
  { operation, input, call, canAsk }: Asking,
): Promise<Record<string, unknown>> {
  const question = canAsk ? await clarificationFor(operation, deps, { input, call }) : undefined;
  if (question === undefined) return input;
  const answer = await askTerminal(`${question}\nEnter: as asked · n: don't start\n> `, call.signal);
  if (answer === undefined || isRefusal(answer)) throw declined();
  return clarified(operation, input, answer);
}

/** Returns what the user agreed to, or throws the error that is printed instead. `canAsk`: stdin and stderr are terminals. */
export type Confirmation = (
  deps: OperationDeps,
  asked: { input: Record<string, unknown>; call: Call; canAsk: boolean },
) => Promise<Call["agreed"]>;

/** Before paid research is cancelled, or an unknown start is abandoned; the rest costs cents. */
export const confirmCancel: Confirmation = async (deps, { input, call, canAsk }) => {
  const run = await deps.findRun(call.owner, String(input["task_id"]));
  if (run.kind !== "agent" || !PAID.has(run.status)) return undefined;
  if (!canAsk) {
    throw new AppError({
      code: "CONFIRMATION_NEEDED",
      message: `Not running interactively, so nothing was cancelled. ${priceOfCancel(run)}. Add --yes to cancel it.`,
    });
  }
  const question = `Cancel research ${shortId(run.taskId)} "${cutToWidth(oneLine(run.query), MAX_QUESTION_WIDTH)}"?`;
  if (saysYes(await askTerminal(`${question}\n${priceOfCancel(run)}. [y/N] `, call.signal))) return undefined;
  const remains = run.status === "start_unknown" ? "The run is unchanged." : "The research continues.";
  throw new AppError({ code: "DECLINED", message: `Not cancelled. ${remains}` });
};

/** The earlier spelling: a script has decided already, except to delete. */
export const confirmStop: Confirmation = async (deps, asked) => {
  if (asked.input["delete"] === true) return confirmDeletion(deps, asked);
  return asked.canAsk ? confirmCancel(deps, asked) : undefined;
};

/** Google charges, or may charge, dollars for a run with one of these states. */
const PAID: ReadonlySet<Run["status"]> = new Set(["pending", "running_async", "start_unknown"]);

const MAX_QUESTION_WIDTH = 50;
const MAX_DELETED_WIDTH = 60;

function priceOfCancel({ cost, estimate, status }: Run): string {
  const likely = estimateOf(estimate).usd?.likely;
  const spent =
    cost.usd !== undefined
      ? ` (${formatCost(costFields(cost))})`
      : likely === undefined
        ? ""
        : ` (about ${formatDollars(likely)} at its end)`;
  return status === "start_unknown"
    ? `Google may have started it${spent}: you then pay for it and get no report`
    : `You pay what it has cost so far${spent} and get no report`;
}

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

/** An unfinished run is stopped first. */
export function questionAbout({ taskId, query, status }: Pick<Run, "taskId" | "query" | "status">): string {
  const action = isFinished(status) ? "Delete" : "Cancel and delete";
  return `${action} run ${shortId(taskId)} "${cutToWidth(oneLine(query), MAX_DELETED_WIDTH)}"`;
}

/** States the price of a table that has to be made, and asks where it is above the user's limit. */
export const confirmTable: Confirmation = async (deps, { input, call, canAsk }) => {
  const { priceToMake } = await import("../operations/followup/prepare.ts");
  const { task_id: taskId, question, columns = [] } = parseInput(askFollowup.input, input);
  const price = await priceToMake(deps, { owner: call.owner, taskId, question, columns });
  if (price !== undefined) await printFailure(price);
  return confirmCost(deps, { operation: askFollowup, input, call, canAsk });
};

const cannotAsk = ({ because, unasked, undone = "Nothing was started.", details, run, next }: Question): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `${because} ${undone}`,
    suggestion: `Add --yes to start it${unasked === undefined ? "" : `, or ${unasked}`}.`,
    next,
    details,
    run,
  });

const declined = (suggestion?: string, { run, next }: Pick<Question, "run" | "next"> = {}): AppError =>
  new AppError({
    code: "DECLINED",
    message: "Cancelled. Nothing was started or charged.",
    ...(suggestion === undefined ? {} : { suggestion }),
    next,
    run,
  });

/** A command that can be pasted. */
const ABOUT_COSTS = "To be asked above $10 only: export RESEARCH_CONFIRM_ABOVE_USD=10";

/** Anything other than "y" or "yes" declines. */
export const saysYes = (answer: string | undefined): boolean => /^\s*y(?:es)?\s*$/i.test(answer ?? "");

/** Undefined without an answer: after Ctrl-C and Ctrl-D. */
export async function askTerminal(text: string, signal: AbortSignal): Promise<string | undefined> {
  // In terminal mode readline would swallow Ctrl-C.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    // Ctrl-D closes the input without a line, and an interrupt ends the wait.
    const closed = once(lines, "close").then(() => undefined);
    return await Promise.race([
      lines.question(wrappedFor(process.stderr, text), { signal }).catch(() => undefined),
      closed,
    ]);
  } finally {
    lines.close();
  }
}
