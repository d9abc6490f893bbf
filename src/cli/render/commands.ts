/** Prints actions for people at a terminal: what each does, and its command. */

import type { Action, Verb } from "../../action.ts";
import { shortId } from "./answer-view.ts";

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
  cancel: (id) => ["Abandon it", `stop ${id}`],
  delete: (id) => ["Delete it", `delete ${id}`],
  poll_again: (id) => ["Check again (free)", `resume ${id}`],
  adopt: (id) => ["If AI Studio shows it, follow that run (free)", `resume ${id} --interaction-id <id>`],
  continue: (id) => ["Continue with the next round (cents)", `resume ${id}`],
  edit_plan: (id) => ["Change the plan (cents)", `plan ${id} --edit "…"`],
  followup: () => ["Ask it again (cents)", "followup …"],
  table: (id) => ["Make a table of a report (cents)", `table ${id} …`],
  start: (_id, { with: how }) => (how === undefined ? ["Start a new one", "research …"] : STARTS[how]),
  approve: (id) => ["Start it", `approve ${id}`],
  restart: (id) => ["Start it again (may be charged twice)", `resume ${id} --accept-possible-double-charge`],
};

const STARTS: Record<NonNullable<Action["with"]>, Command> = {
  plan_first: ["Begin with a plan", "research … --plan"],
  this_plan: ["Start it with this plan as part of the question", "research …"],
  force_new: ["Start a separate run (may be charged twice)", "research … --force-new"],
};
