/** Asks the user at the terminal before a command that costs money or deletes. */

import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { AppError } from "../errors.ts";
import type { Call, Operation, OperationDeps, Question } from "../operations/operation.ts";
import { clarificationFor, clarified, questionFor } from "../operations/perform.ts";

interface Asking {
  operation: Operation;
  input: Record<string, unknown>;
  call: Call;
  /** Both stdin and stderr are terminals. */
  canAsk: boolean;
}

/** Returns whether the user was asked and agreed; throws when the user declined or could not be asked. */
export async function confirmCost(deps: OperationDeps, { operation, input, call, canAsk }: Asking): Promise<boolean> {
  const question = await questionFor(operation, deps, { input, call });
  if (question === undefined) return false;
  if (!canAsk) throw cannotAsk(question);
  if (!saysYes(await askTerminal(`${question.ask} [y/N] `, call.signal))) throw declined(ABOUT_COSTS);
  return true;
}

/** Asks once what a vague question means, if a user can answer; returns the input, with the answer if there is one. */
export async function askForDetails(
  deps: OperationDeps,
  { operation, input, call, canAsk }: Asking,
): Promise<Record<string, unknown>> {
  const question = canAsk ? await clarificationFor(operation, deps, { input, call }) : undefined;
  if (question === undefined) return input;
  const answer = await askTerminal(`${question} (Enter: start it as it is)\n> `, call.signal);
  // Ctrl-C is no answer.
  if (call.signal.aborted) throw declined();
  return clarified(operation, input, answer);
}

const cannotAsk = ({ because, unasked, details }: Question): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `${because} Nothing was started.`,
    suggestion: `Add --yes to start it, or ${unasked}.`,
    details,
  });

const declined = (suggestion?: string): AppError =>
  new AppError({
    code: "DECLINED",
    message: "Cancelled. Nothing was started or charged.",
    ...(suggestion === undefined ? {} : { suggestion }),
  });

const ABOUT_COSTS = "RESEARCH_CONFIRM_ABOVE_USD sets the cost above which you are asked.";

/** Anything other than "y" or "yes" declines. */
export const saysYes = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer);

export async function askTerminal(text: string, signal: AbortSignal): Promise<string> {
  // In terminal mode readline would swallow Ctrl-C.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    // Ctrl-D closes the input without a line and an interrupt ends the wait: both return an empty answer.
    const closed = once(lines, "close").then(() => "");
    return await Promise.race([lines.question(text, { signal }).catch(() => ""), closed]);
  } finally {
    lines.close();
  }
}
