/** What is advised about plans, on every surface. */

import type { Advice } from "../../action.ts";

/** After a plan that cannot be approved here any more: its text is kept. */
export const PLAN_CANCELLED: Advice = {
  suggestion: "The text of the plan is kept.",
  next: [{ do: "read" }, { do: "start", with: "this_plan" }],
};

export const PLAN_ENDED: Advice = {
  suggestion: "The text of the plan is kept, and Google may still have the plan itself.",
  next: [{ do: "poll_again" }, { do: "read" }, { do: "start", with: "this_plan" }],
};

/** The change that a user asks for by editing the text of the plan. */
export const planReplacement = (text: string): string => `Replace the plan with this one:\n\n${text}`;
