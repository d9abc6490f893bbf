/** The planning state of a run, as it is stored with the run: its current turn, and what the earlier turns cost. */

import { z } from "zod";
import type { Advice } from "../../action.ts";
import { addCosts, type Cost, NO_COST, roundCost } from "../../costs/actual.ts";

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

/** Tokens and cost of one or more turns. */
export interface TurnUsage {
  tokens: { input: number; output: number };
  cost: Cost;
}

export interface RunPlan {
  /** Turn 1 asks for the first plan. */
  turn: number;
  /** True while the turn asks for a plan; false once the research itself was approved. */
  isPlanning: boolean;
  /** The sum of the turns before the current one. */
  earlier: TurnUsage;
}

export const NO_USAGE: TurnUsage = { tokens: { input: 0, output: 0 }, cost: NO_COST };

/** Of a turn whose usage Google never reported: the sum is then a lower bound. */
export const UNKNOWN_USAGE: TurnUsage = { ...NO_USAGE, cost: { ...NO_COST, incomplete: true } };

export const FIRST_TURN: RunPlan = { turn: 1, isPlanning: true, earlier: NO_USAGE };

const usageSchema = z.object({
  tokens: z.object({ input: z.number(), output: z.number() }),
  // JSON leaves out an undefined amount.
  cost: z.object({ usd: z.number().optional(), incomplete: z.boolean(), estimated: z.boolean() }),
});
const planSchema = z.object({ turn: z.number(), isPlanning: z.boolean(), earlier: usageSchema });

const usageOf = ({ tokens, cost }: z.output<typeof usageSchema>): TurnUsage => ({
  tokens,
  cost: { ...cost, usd: cost.usd },
});

export function readPlan(json: string | null): RunPlan | undefined {
  if (json === null) return undefined;
  const { earlier, ...plan } = planSchema.parse(JSON.parse(json));
  return { ...plan, earlier: usageOf(earlier) };
}

export const readUsage = (json: string | null): TurnUsage =>
  json === null ? NO_USAGE : usageOf(usageSchema.parse(JSON.parse(json)));

export const addUsage = (one: TurnUsage, other: TurnUsage): TurnUsage => ({
  tokens: { input: one.tokens.input + other.tokens.input, output: one.tokens.output + other.tokens.output },
  cost: roundCost(addCosts(one.cost, other.cost)),
});

/** The usage of a run: that of its current interaction and of the planning turns before it. */
export const withEarlierTurns = (plan: RunPlan | undefined, current: TurnUsage): TurnUsage =>
  plan === undefined ? current : addUsage(plan.earlier, current);
