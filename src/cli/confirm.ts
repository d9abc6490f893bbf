/** The user's word before a command that costs much: asked at the terminal, if there is somebody at it. */

import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { confirmationNeeded, declined } from "../operations/parts/cost-confirmation.ts";
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Outcome, questionFor, refused } from "../operations/perform.ts";

interface Asking {
  operation: Operation;
  input: Record<string, unknown>;
  call: Call;
  /** Someone sees stderr and can answer on stdin. */
  canAsk: boolean;
}

/** Whether the user agreed to something, or what to print instead of an answer. */
export async function confirmInTerminal(
  deps: OperationDeps,
  { operation, input, call, canAsk }: Asking,
): Promise<{ agreed: boolean } | { refusal: Outcome }> {
  try {
    const question = await questionFor(operation, deps, input, call);
    if (question === undefined) return { agreed: false };
    if (!canAsk) throw confirmationNeeded(operation, question);
    if (!saysYes(await askTerminal(`${question.because} Start it? [y/N] `, call.signal))) throw declined();
    return { agreed: true };
  } catch (error) {
    return { refusal: refused(error, deps) };
  }
}

/** Anything but a plain yes is a no. */
export const saysYes = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer);

export async function askTerminal(text: string, signal: AbortSignal): Promise<string> {
  // Not a terminal of readline's own: that would swallow Ctrl-C.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    // Ctrl-D closes the input without a line, and an interrupt ends the wait: both are no answer.
    const closed = once(lines, "close").then(() => "");
    return await Promise.race([lines.question(text, { signal }).catch(() => ""), closed]);
  } finally {
    lines.close();
  }
}
