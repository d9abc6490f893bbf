/** Prints advice for models: the sentence, then the calls of tools that help. */

import { type Action, type Advice, isUsersDecision, priceOf, type Verb } from "../../action.ts";
import { dollars } from "../../costs/dollars.ts";

export function adviceText({ suggestion, next = [] }: Advice): string | undefined {
  const calls = next.map(callText).join("; ");
  const parts = [suggestion, calls === "" ? undefined : `${calls}.`].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(" ");
}

const callText = (action: Action): string =>
  `${CALLS[action.do](action)}${isUsersDecision(action) ? " if the user agrees" : ""}${priceText(action)}`;

function priceText(action: Action): string {
  const { usd } = action;
  if (usd !== undefined) return ` (about ${dollars(usd.likely)}, up to ${dollars(usd.max)})`;
  const price = priceOf(action);
  return price === undefined ? "" : PRICES[price];
}

const PRICES: Record<NonNullable<ReturnType<typeof priceOf>>, string> = {
  free: ", free of charge",
  cents: ", for cents",
  paid: ", which is charged",
  again: ", which may be charged twice",
};

const CALLS: Record<Verb, (action: Action) => string> = {
  wait: () => "check_research_status shows its progress",
  read: ({ section }) =>
    section === undefined
      ? "get_research_results returns its text"
      : `get_research_results with section ${section} returns it`,
  list: () => "list_research shows the runs that are stored",
  save: () => "save_research_to_markdown writes it to a file",
  cancel: () => "cancel_research abandons it",
  delete: () => "cancel_research with delete deletes it",
  poll_again: () => "resume_research checks again",
  adopt: () => "resume_research with its interaction_id (AI Studio shows it) adopts it",
  continue: () => "resume_research continues at the next round",
  edit_plan: () => "resume_research with plan_edit changes the plan",
  followup: () => "ask_followup asks it again",
  table: () => "ask_followup with columns makes a table of a finished report",
  start: ({ with: how }) => (how === undefined ? "start_deep_research starts it again" : STARTS[how]),
  compare: () => "compare_reports then shows what changed",
  approve: ({ plan_turn: turn }) =>
    `resume_research with approve true${turn === undefined ? "" : ` and plan_turn ${turn}`} starts the research`,
  restart: () => "resume_research with accept_possible_double_charge sends it again, as a run of its own",
};

const STARTS: Record<NonNullable<Action["with"]>, string> = {
  plan_first: "start_deep_research with plan true begins with a plan",
  this_plan: "start_deep_research with the question and this plan as its query starts the research",
  force_new: "start_deep_research with force_new starts a separate run",
};
