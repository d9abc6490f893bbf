/** Lays an answer out for its reader: a view of its own or Markdown on a terminal, the plain text elsewhere. */

import type { Outcome } from "../../operations/perform.ts";
import type { Paint } from "./paint.ts";

export interface TerminalSpace {
  width: number;
  paint: Paint;
  now: number;
}

/** Renders one operation's output for a terminal. */
export type TerminalView<Output> = (output: Output, space: TerminalSpace) => Promise<string>;

export interface AnswerSpace extends Omit<TerminalSpace, "width"> {
  /** Undefined: not a terminal. */
  width: number | undefined;
}

export async function answerView<Output extends Record<string, unknown>>(
  outcome: Outcome<Output>,
  { width, ...space }: AnswerSpace,
  view?: TerminalView<Output>,
): Promise<string> {
  if (width === undefined || outcome.failed) return outcome.text;
  if (view !== undefined) return view(outcome.structured, { ...space, width });
  const { markdownView } = await import("./markdown-view.ts");
  return markdownView(outcome.text, { ...space, width });
}
