/**
 * What can be done next, as data. An error or a view lists actions, and each surface prints them in its own words: as
 * calls of tools (operations/parts/advice.ts), as commands (cli/render/answer-view.ts), as buttons (web/page/run/actions-text.ts).
 */

/** Nothing, cents, the price of a research, or possibly that price a second time. */
type Price = "free" | "cents" | "paid" | "again";

/** Each verb with its price, where that is worth mentioning: reading what is stored is always free. */
const VERBS = {
  wait: undefined,
  read: undefined,
  list: undefined,
  save: undefined,
  cancel: undefined,
  delete: undefined,
  /** Check whether Google has the report, or the plan, by now. */
  poll_again: "free",
  /** Follow the interaction that Google shows for a start whose response was lost. */
  adopt: "free",
  /** Go on with the next round of a deep search. */
  continue: "cents",
  edit_plan: "cents",
  followup: "cents",
  table: "cents",
  start: "paid",
  approve: "paid",
  /** See what a newer report says otherwise. */
  compare: undefined,
  /** Send a start whose response was lost once more. */
  restart: "again",
} as const satisfies Record<string, Price | undefined>;

export type Verb = keyof typeof VERBS;

export interface Action {
  do: Verb;
  /** Undefined: the run that the error is about, or none. */
  task_id?: string | undefined;
  /** Of `read`: a section of the report. */
  section?: string | undefined;
  /** Of `start`: with a plan first, with the plan of this run as part of the question, or although the same is running. */
  with?: "plan_first" | "this_plan" | "force_new" | undefined;
  /** Undefined: the price of the verb. */
  cost?: Price | undefined;
  usd?: { likely: number; max: number } | undefined;
  /** Of a decision on a plan. */
  plan_turn?: number | undefined;
}

/** A sentence that every surface can show, and what can be done about it. */
export interface Advice {
  suggestion?: string | undefined;
  next?: readonly Action[] | undefined;
}

export const priceOf = ({ do: verb, cost }: Action): Price | undefined => cost ?? VERBS[verb];

/** Decisions that only the user can make: no surface presents them as the obvious next step. */
const USERS: ReadonlySet<Verb> = new Set(["approve", "delete"]);

export const isUsersDecision = (action: Action): boolean => USERS.has(action.do) || priceOf(action) === "again";
