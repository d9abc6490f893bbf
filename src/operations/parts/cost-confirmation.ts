/** The cost confirmation before a paid start: when it is required, its texts, and the errors when the user did not agree. */

import { type Estimate, type PlanStage, withMaterial } from "../../costs/estimate.ts";
import type { FollowupEstimate } from "../../costs/followup.ts";
import { AppError } from "../../errors.ts";
import type { Call, Operation, OperationDeps, Question } from "../operation.ts";

interface PaidStart {
  /** Never shown in the question: a model may have written it, and the question is in our own words. */
  query: string;
  agent: string;
  /** Of a start that asks for a plan, or that carries one out. */
  plan?: PlanStage | undefined;
  /** A rough count of the tokens that are sent besides the question. */
  tokens?: number;
  /** How many starts may be charged. */
  charges?: number;
  /** The estimate of a follow-up, which is asked about in its own words; null if its model has no price. */
  followup?: FollowupEstimate | null | undefined;
  /** The follow-up makes a table. */
  isTable?: boolean | undefined;
}

/**
 * Returns a check that throws unless the user has agreed or needs not be asked. Transports ask before the call, when the
 * start might still join another run and so need no consent; the check runs directly before money is spent.
 */
export async function requireCostConsent(
  deps: OperationDeps,
  call: PayingCall,
  start: PaidStart & { operation: string },
): Promise<() => void> {
  const question = call.agreed === true ? undefined : await costQuestion(deps, call, start);
  return () => {
    if (question !== undefined) throw confirmationNeeded({ name: start.operation }, question);
  };
}

type PayingCall = Pick<Call, "owner" | "agreed" | "estimates">;

/** The estimate of a start, computed once per call for the question, the check before the start, and the record. */
export async function estimateFor(
  deps: OperationDeps,
  { owner, estimates }: PayingCall,
  { query, agent, plan, tokens = 0 }: Pick<PaidStart, "query" | "agent" | "plan" | "tokens">,
): Promise<Estimate | undefined> {
  const key = JSON.stringify([query, agent, plan]);
  const estimate =
    estimates?.get(key) ??
    (plan === undefined ? deps.estimate(query, agent, owner) : deps.estimatePlan({ query, agent, owner, plan }));
  estimates?.set(key, estimate);
  const found = await estimate;
  return found === undefined ? undefined : withMaterial(found, tokens);
}

/** Undefined when the start is cheap enough, or can cost nothing. */
export async function costQuestion(
  deps: OperationDeps,
  call: PayingCall,
  { query, agent, plan, tokens = 0, charges = 1, followup, isTable = false }: PaidStart,
): Promise<Question | undefined> {
  const limit = deps.settings.confirmAboveUsd;
  const what = isTable ? "table" : followup !== undefined ? "follow-up" : plan === "wanted" ? "plan" : "research";
  const estimate =
    followup === undefined ? await estimateFor(deps, call, { query, agent, plan, tokens }) : (followup ?? undefined);
  if (estimate !== undefined && limit > 0 && charges * estimate.usd.likely <= limit) return undefined;
  // Without a key or a database nothing is charged: the start fails and reports what is missing.
  if ((await deps.agent()) === undefined || !(await deps.research()).durable) return undefined;
  return estimate === undefined ? unknownCost(agent, { limit, what }) : knownCost(estimate, { limit, charges, what });
}

interface Asked {
  limit: number;
  what: "research" | "follow-up" | "plan" | "table";
}

const VERBS = { research: "Start", "follow-up": "Start", plan: "Ask for", table: "Make" };

function knownCost(
  { usd, agent }: Pick<Estimate, "usd" | "agent">,
  { limit, charges, what }: Asked & { charges: number },
): Question {
  const [likely, max] = [dollars(charges * usd.likely), dollars(charges * usd.max)];
  const cost = `This ${what} will cost about ${likely} (at most ${max}) with ${agent}`;
  const upTo = `${likely} (up to ${max})`;
  return {
    ask: `${VERBS[what]} this ${what} for about ${upTo}?${limit === 0 ? "" : ` Your limit is ${dollars(limit)}.`}`,
    because:
      limit === 0
        ? `${cost}, and every start must be confirmed.`
        : `${cost}, more than your limit of ${dollars(limit)}.`,
    unasked: "raise RESEARCH_CONFIRM_ABOVE_USD for this server",
    details: { estimated_cost_usd: charges * usd.likely, limit_usd: limit },
  };
}

const unknownCost = (agent: string, { limit, what }: Asked): Question => ({
  ask: `${VERBS[what]} this ${what}? Its cost is unknown.`,
  because: `The cost of this ${what} is unknown: there is no price for ${agent}.`,
  unasked: "add the price of this agent to prices.json in the config directory",
  details: { limit_usd: limit },
});

export const dollars = (usd: number): string => `$${Number.isInteger(usd) ? usd : usd.toFixed(2)}`;

export const declined = (): AppError =>
  new AppError({
    code: "DECLINED",
    message: "The user declined. Nothing was started and nothing was charged.",
    suggestion:
      "Do not try again unless the user asks for it. RESEARCH_CONFIRM_ABOVE_USD sets the cost above which the user is asked.",
  });

/**
 * No parameter of a tool confirms the cost: the model would set it, and a web page could talk the model into that.
 * Only the user can agree, in a dialog of the client, in a terminal, or beforehand by a setting.
 */
export const confirmationNeeded = (
  { name }: Pick<Operation, "name">,
  { because, unasked, details }: Question,
): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `${because} This needs the user's approval, which this client cannot ask for. Nothing was started.`,
    suggestion: `Ask the user. To approve it, the user can ${unasked}, or start it in a terminal: gemini-search-mcp ${name.replaceAll("_", "-")} … --yes`,
    details,
  });
