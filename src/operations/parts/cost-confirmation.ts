/** The cost confirmation before a paid start: when it is required, its texts, and the errors when the user did not agree. */

import { type Estimate, type FollowupEstimate, type PlanStage, withMaterial } from "../../costs/estimate.ts";
import { AppError } from "../../errors.ts";
import type { CheckCost } from "../../runs/start/limits-store.ts";
import type { Call, Operation, OperationDeps, Question } from "../operation.ts";
import { covers, type Subject } from "../question/subject.ts";

interface PaidStart {
  /** What is decided on, besides the price. */
  about: Omit<Subject, "max_usd">;
  /** Never shown in the question: a model may have written it, and the question is in our own words. */
  query: string;
  agent: string;
  /** Of a start that asks for a plan, or that carries one out. */
  plan?: PlanStage | undefined;
  /** A rough count of the tokens that are sent besides the question. */
  tokens?: number;
  /** How many starts may be charged; above one, whatever it costs, a person decides. */
  charges?: number;
  /** The estimate of a follow-up, which is asked about in its own words; null if its model has no price. */
  followup?: FollowupEstimate | null | undefined;
  /** The follow-up makes a table. */
  isTable?: boolean | undefined;
}

/**
 * Returns the estimate to store, and a check that throws unless the user has agreed to this very start or needs not be asked. Transports ask before
 * the call, when the start might still join another run, and other starts add to the sum meanwhile; the check runs in
 * the transaction of the start.
 */
export async function requireCostConsent(
  deps: OperationDeps,
  call: Pick<Call, "owner" | "agreed">,
  start: PaidStart,
): Promise<{ checkCost: CheckCost; estimate: Record<string, unknown> }> {
  const priced = await priceOf(deps, call, start);
  return {
    checkCost: (unconfirmedUsd) => {
      const question = questionOn(deps, priced, unconfirmedUsd);
      if (question !== undefined) requireConsent(call, question);
      return covers(call.agreed, priced.subject) ? undefined : priced.estimate?.usd.likely;
    },
    estimate: { ...priced.estimate },
  };
}

/** Throws unless the user has agreed to what the question is about. */
export function requireConsent({ agreed }: Pick<Call, "agreed">, question: Question): void {
  if (covers(agreed, question.subject)) return;
  throw agreed === undefined ? notAsked(question) : consentOutdated(question);
}

/** The id of the run that the yes starts. A yes to another input has started another run, which this call must not join. */
export const runAgreedTo = (
  { agreed, newTaskId }: Pick<Call, "agreed" | "newTaskId">,
  { input }: PaidStart["about"],
): string | undefined => (agreed?.input === input ? newTaskId : undefined);

export async function estimateFor(
  deps: OperationDeps,
  { owner }: Pick<Call, "owner">,
  { query, agent, plan, tokens = 0 }: Pick<PaidStart, "query" | "agent" | "plan" | "tokens">,
): Promise<Estimate | undefined> {
  const found = await (plan === undefined
    ? deps.estimate(query, agent, owner)
    : deps.estimatePlan({ query, agent, owner, plan }));
  return found === undefined ? undefined : withMaterial(found, tokens);
}

/** Undefined when the start is cheap enough, or can cost nothing. Other starts may add to the sum until it is made. */
export async function costQuestion(
  deps: OperationDeps,
  call: Pick<Call, "owner">,
  start: PaidStart,
): Promise<Question | undefined> {
  const priced = await priceOf(deps, call, start);
  const alone = questionOn(deps, priced, 0);
  if (alone !== undefined || !priced.canBeCharged) return alone;
  const { sumUnconfirmed } = await import("../../runs/start/limits-store.ts");
  const { owner } = call;
  return questionOn(deps, priced, await sumUnconfirmed(await deps.database(), { owner, now: deps.clock.now() }));
}

interface PricedStart {
  what: "research" | "follow-up" | "plan" | "table";
  agent: string;
  charges: number;
  /** Undefined if the agent or model has no price. */
  estimate: Pick<Estimate, "usd" | "agent"> | undefined;
  /** Without a key or a database nothing is charged: the start fails and reports what is missing. */
  canBeCharged: boolean;
  subject: Subject;
}

async function priceOf(deps: OperationDeps, call: Pick<Call, "owner">, start: PaidStart): Promise<PricedStart> {
  const { about, query, agent, plan, tokens = 0, charges = 1, followup, isTable = false } = start;
  const estimate =
    followup === undefined ? await estimateFor(deps, call, { query, agent, plan, tokens }) : (followup ?? undefined);
  return {
    what: isTable ? "table" : followup !== undefined ? "follow-up" : plan === "wanted" ? "plan" : "research",
    agent,
    charges,
    estimate,
    canBeCharged: (await deps.agent()) !== undefined && (await (await deps.research()).obstacle()) === undefined,
    subject: estimate === undefined ? about : { ...about, max_usd: charges * estimate.usd.max },
  };
}

const VERBS = { research: "Start", "follow-up": "Start", plan: "Ask for", table: "Make" };

function questionOn(
  { settings }: Pick<OperationDeps, "settings">,
  { what, agent, charges, estimate, canBeCharged, subject }: PricedStart,
  unconfirmedUsd: number,
): Question | undefined {
  const { confirmAboveUsd: limit, confirmAboveUsdPerDay: perDay } = settings;
  if (!canBeCharged) return undefined;
  if (estimate === undefined) {
    return {
      ask: `${VERBS[what]} this ${what}? Its cost is unknown.`,
      because: `The cost of this ${what} is unknown: there is no price for ${agent}.`,
      unasked: charges > 1 ? undefined : "add the price of this agent to prices.json in the config directory",
      details: { limit_usd: limit },
      subject,
    };
  }
  const { likely } = estimate.usd;
  const [about, max] = [dollars(charges * likely), dollars(charges * estimate.usd.max)];
  const ask = `${VERBS[what]} this ${what} for about ${about} (up to ${max})?`;
  const cost = `This ${what} will cost about ${about} (at most ${max}) with ${estimate.agent}`;
  const facts = { details: { estimated_cost_usd: charges * likely, limit_usd: limit }, subject };
  const unasked = "raise RESEARCH_CONFIRM_ABOVE_USD for this server";
  if (limit === 0) return { ask, because: `${cost}, and every start must be confirmed.`, unasked, ...facts };
  if (charges * likely > limit) {
    return {
      ask: `${ask} Your limit is ${dollars(limit)}.`,
      because: `${cost}, more than your limit of ${dollars(limit)}.`,
      unasked: charges > 1 ? undefined : unasked,
      ...facts,
    };
  }
  if (charges > 1) return { ask, because: `${cost}.`, ...facts };
  if (unconfirmedUsd + likely <= perDay) return undefined;
  const [sum, sumLimit] = [dollars(unconfirmedUsd), dollars(perDay)];
  return {
    ask: `${ask} ${sum} was started without a confirmation in 24 hours; your limit is ${sumLimit}.`,
    because: `${cost}. In the last 24 hours research for about ${sum} was started without a confirmation; with this ${what} it would be more than your limit of ${sumLimit}.`,
    unasked: "raise RESEARCH_CONFIRM_ABOVE_USD_PER_DAY for this server",
    details: { estimated_cost_usd: charges * likely, unconfirmed_usd: cents(unconfirmedUsd), limit_usd: perDay },
    subject,
  };
}

/** Without the fractions of a sum of floating-point numbers. */
const cents = (usd: number): number => Math.round(usd * 100) / 100;

export const dollars = (usd: number): string => `$${Number.isInteger(usd) ? usd : usd.toFixed(2)}`;

const NOTHING_STARTED = "Nothing was started.";

export const declined = (): AppError =>
  new AppError({
    code: "DECLINED",
    message: "The user declined. Nothing was started, charged or deleted.",
    suggestion: "Do not try again unless the user asks for it.",
  });

/** The clarifying question was declined, closed or not answered. */
export const questionClosed = (): AppError =>
  new AppError({
    code: "DECLINED",
    message: "The user did not say what the research should focus on. Nothing was started and nothing was charged.",
    suggestion: "Ask the user what the research is for, then start it with a more precise query.",
  });

/** Nothing had to be asked when the call came, or its transport asks with the answer to this error. */
const notAsked = (question: Question): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `${question.because} This needs the user's approval. ${question.undone ?? NOTHING_STARTED}`,
    suggestion: `Call it again: the user is then asked, if the client can ask. Otherwise ${waysToApprove(question.subject.operation, question)}`,
    details: question.details,
  });

/** The yes was about something else, or about a lower price. */
const consentOutdated = ({ because, undone = NOTHING_STARTED, details }: Question): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `This is not what the user agreed to. ${because} ${undone}`,
    suggestion: "Call it again: the user is then asked about this.",
    details,
  });

/**
 * No parameter of a tool confirms the cost: the model would set it, and a web page could talk the model into that.
 * Only the user can agree, in a dialog of the client, in a terminal, or beforehand by a setting.
 */
export const confirmationNeeded = ({ name }: Pick<Operation, "name">, question: Question): AppError =>
  new AppError({
    code: "CONFIRMATION_NEEDED",
    message: `${question.because} This needs the user's approval, which this client cannot ask for. ${question.undone ?? NOTHING_STARTED}`,
    suggestion: `Ask the user. To approve it, ${waysToApprove(name, question)}`,
    details: question.details,
  });

/** In a terminal the user is asked, with the price. */
const COMMANDS: Readonly<Record<string, (run: string) => string>> = {
  ask_followup: (run) => `followup ${run} "…"`,
  resume_research: (run) => `retry ${run}`,
};

function waysToApprove(operation: string, { unasked, command, subject }: Question): string {
  const typed = command ?? COMMANDS[operation]?.(subject.run?.slice(0, 8) ?? "<run>") ?? 'research "…"';
  return `the user can ${unasked === undefined ? "" : `${unasked}, or `}decide on the dashboard (gemini-search-mcp open) or in a terminal: gemini-search-mcp ${typed}`;
}
