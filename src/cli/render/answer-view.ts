/** What a view needs to render the output of an operation for people. */

import type { StoredResult } from "../../runs/run.ts";
import type { Hyperlink } from "./hyperlink.ts";
import type { Paint } from "./paint.ts";

export interface AnswerSpace {
  /** Undefined: not a terminal, so nothing is wrapped or cut. */
  width: number | undefined;
  paint: Paint;
  /** Undefined where links cannot be clicked. */
  link?: Hyperlink | undefined;
  now: number;
  /** The run is gone when the program ends, so no command could continue with it. */
  isDemo?: boolean | undefined;
  /** The stored report of a run: it has the titles and citation positions that answers leave out. */
  stored: (taskId: string) => Promise<StoredReport | undefined>;
}

export type StoredReport = Pick<StoredResult, "report" | "sources" | "citations">;

/** Renders one operation's output; it never contains the text for models. */
export type TerminalView<Output> = (output: Output, space: AnswerSpace) => Promise<string>;

/** A command as a user types it. */
export const shell = (command: string): string => `gemini-search-mcp ${command}`;

/** The beginning of an id, which every command accepts. */
export const shortId = (taskId: string): string => taskId.slice(0, 8);

/** Commands that are useful next, with what each does, aligned. Only for terminals: a script knows what it does next. */
export function nextCommands(
  commands: readonly (readonly [purpose: string, command: string])[],
  { paint, isDemo = false }: Pick<AnswerSpace, "paint" | "isDemo">,
): string {
  if (isDemo) return "";
  const widest = Math.max(0, ...commands.map(([purpose]) => purpose.length));
  return commands
    .map(([purpose, command]) => `${paint("faint", `${purpose}:`.padEnd(widest + 2))}${shell(command)}`)
    .join("\n");
}
