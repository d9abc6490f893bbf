/** What a view needs to render the output of an operation for people, and the commands that can follow it. */

import { basename } from "node:path";
import type { Action, Verb } from "../../action.ts";
import type { StoredResult } from "../../runs/run.ts";
import { formatDollars } from "../../costs/dollars.ts";
import type { Hyperlink, Paint } from "./paint.ts";
import { widthOf } from "./text-width.ts";

export interface AnswerSpace {
  /** Undefined: not a terminal, so nothing is wrapped or cut. */
  width: number | undefined;
  paint: Paint;
  /** Undefined where links cannot be clicked. */
  link?: Hyperlink | undefined;
  now: number;
  /** Shown as ~ to people. */
  home?: string | undefined;
  /** The run is gone when the program ends, so no command could continue with it. */
  isDemo?: boolean | undefined;
  /** The stored report of a run: it has the titles and citation positions that answers leave out. */
  stored: (taskId: string) => Promise<StoredReport | undefined>;
}

export type StoredReport = Pick<StoredResult, "report" | "sources" | "citations">;

/** Renders one operation's output; it never contains the text for models. */
export type TerminalView<Output> = (output: Output, space: AnswerSpace) => Promise<string>;

export const NAMES = ["gemini-search-mcp", "gemsearch"] as const;

/** By which of its names the program was called, so that commands are printed as the user types them. */
export function calledName(script = process.argv[1] ?? ""): string {
  return NAMES.find((name) => name === basename(script)) ?? NAMES[0];
}

/** A command as a user types it. */
export const shell = (command: string): string => `${calledName()} ${command}`;

/** The beginning of an id, which every command accepts. */
export const shortId = (taskId: string): string => taskId.slice(0, 8);

/** Short for people, whole for scripts. */
export const idFor = (taskId: string, { width }: Pick<AnswerSpace, "width">): string =>
  width === undefined ? taskId : shortId(taskId);

/**
 * Commands that are useful next, with what each does, aligned. Only for terminals: a script knows what it does next. Where
 * they do not fit the window beside their purposes, each has a line of its own, which is never broken: it is copied.
 */
export function nextCommands(
  commands: readonly (readonly [purpose: string, command: string])[],
  {
    paint,
    width = Infinity,
    isDemo = false,
  }: Pick<AnswerSpace, "paint" | "isDemo"> & Partial<Pick<AnswerSpace, "width">>,
): string {
  if (isDemo) return "";
  const column = Math.max(0, ...commands.map(([purpose]) => purpose.length)) + 2;
  const isAligned = commands.every(([, command]) => column + widthOf(shell(command)) <= width);
  return commands
    .map(([purpose, command]) =>
      isAligned
        ? `${paint("faint", `${purpose}:`.padEnd(column))}${shell(command)}`
        : `${paint("faint", `${purpose}:`)}\n  ${shell(command)}`,
    )
    .join("\n");
}

export type Command = readonly [purpose: string, command: string];

/** `taskId`: the run of actions that name none. */
export const commandFor = (action: Action, taskId: string | undefined): Command => {
  const run = action.task_id ?? taskId;
  return COMMANDS[action.do](run === undefined ? "<run>" : shortId(run), action);
};

const COMMANDS: Record<Verb, (id: string, action: Action) => Command> = {
  wait: (id) => ["Follow it", `watch ${id}`],
  read: (id, { section }) =>
    section === undefined ? ["Read it", `show ${id}`] : ["To see them", `show ${id} --section ${section}`],
  list: () => ["To see your runs", "list"],
  save: (id) => ["Save it", `save ${id}`],
  cancel: (id) => ["Abandon it", `cancel ${id}`],
  delete: (id) => ["Delete it", `delete ${id}`],
  poll_again: (id) => ["Check again (free)", `retry ${id}`],
  adopt: (id) => ["If AI Studio shows it, follow that run (free)", `retry ${id} --interaction-id <id>`],
  continue: (id) => ["Continue with the next round (cents)", `retry ${id}`],
  edit_plan: (id) => ["Change the plan (cents)", `plan ${id} --edit "…"`],
  followup: () => ["Ask it again (cents)", "followup …"],
  table: (id) => ["Make a table of a report (cents)", `table ${id} …`],
  start: (_id, { with: how }) => (how === undefined ? ["Start a new one", "research …"] : STARTS[how]),
  compare: () => ["Then see what changed", "changes <new run>"],
  approve: (id) => ["Start it", `approve ${id}`],
  restart: (id) => ["Start it again (may be charged twice)", `retry ${id} --accept-possible-double-charge`],
};

const STARTS: Record<NonNullable<Action["with"]>, Command> = {
  plan_first: ["Begin with a plan", "research … --plan"],
  this_plan: ["Start it with this plan as part of the question", "research …"],
  force_new: ["Start a separate run (may be charged twice)", "research … --force-new"],
};

export function approvalLine(cost: { likely_usd: number; max_usd: number } | undefined): string {
  if (cost === undefined) return "This plan waits for your approval.";
  return `This plan waits for your approval. The research will cost about ${formatDollars(cost.likely_usd)} (up to ${formatDollars(cost.max_usd)}).`;
}

export function planCommands(taskId: string): [purpose: string, command: string][] {
  const id = shortId(taskId);
  return [
    ["Start it", `approve ${id}`],
    ["Change it", `plan ${id} --edit "…"`],
    ["Drop it", `cancel ${id}`],
  ];
}
