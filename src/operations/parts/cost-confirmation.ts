/** The cost confirmation before a paid start: when it is required, its texts, and the errors when the user did not agree. */

import { type Estimate, type FollowupEstimate, type PlanStage, withMaterial } from "../../costs/estimate.ts";
import { budgetName, type BudgetState, exceededBy, renewalText } from "../../costs/budget.ts";
import { AppError } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
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
    checkCost: (budgets) => {
      const over = exceededBy(budgets, maxUsdOf(priced), "hard");
      if (over !== undefined) throw budgetExceeded(over, priced);
      const question = questionOn(deps, priced, budgets);
      if (question !== undefined) requireConsent(call, question);
      return covers(call.agreed, priced.subject);
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
  if (!priced.canBeCharged) return undefined;
  const budgets = await budgetsNow(deps, call);
  // The start is refused, whatever the user would say.
  if (exceededBy(budgets, maxUsdOf(priced), "hard") !== undefined) return undefined;
  return questionOn(deps, priced, budgets);
}

/** The budgets that are set, with what counts against them: the numbers that decide about a start. */
export async function budgetsNow(
  deps: Pick<OperationDeps, "database" | "clock" | "settings">,
  { owner }: Pick<Call, "owner">,
): Promise<BudgetState[]> {
  const isSet = Object.values(deps.settings.budgets).some(({ soft, hard }) => soft !== undefined || hard !== undefined);
  if (!isSet) return [];
  const { readBudgets } = await import("../../runs/ledger/budget-store.ts");
  return readBudgets(await deps.database(), deps.settings.budgets, { owner, now: deps.clock.now() });
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
  budgets: readonly BudgetState[],
): Question | undefined {
  const { confirmAboveUsd: limit } = settings;
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
  const cost = `This ${what} will cost about ${about} (up to ${max}) with ${estimate.agent}`;
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
  const over = exceededBy(budgets, estimate.usd.max, "soft");
  if (over === undefined) return undefined;
  const used = usedText(over, over.soft);
  return {
    ask: `${ask} ${used}.`,
    because: `${cost}, more than is left: ${used}, which renews at ${renewalText(over)}.`,
    unasked: `raise ${over.name} for this server`,
    details: { estimated_cost_usd: charges * likely, ...budgetDetails(over, over.soft) },
    subject,
  };
}

/** Of a start without a price only what is spent already counts. */
const maxUsdOf = ({ estimate }: PricedStart): number => estimate?.usd.max ?? 0;

/** `$18.20 of today's budget of $20 is used`. */
const usedText = ({ name, usedUsd }: BudgetState, limit = 0): string =>
  `${dollars(cents(usedUsd))} of ${budgetName(name)} of ${dollars(limit)} is used or reserved`;

const budgetDetails = ({ name, usedUsd, renewsAt }: BudgetState, limit = 0) => ({
  budget: name,
  limit_usd: limit,
  used_usd: cents(usedUsd),
  left_usd: cents(Math.max(0, limit - usedUsd)),
  renews_at: isoTime(renewsAt),
});

function budgetExceeded(over: BudgetState, { what, estimate }: Pick<PricedStart, "what" | "estimate">): AppError {
  const cost = estimate === undefined ? "" : ` This ${what} may cost up to ${dollars(estimate.usd.max)}.`;
  return new AppError({
    code: "BUDGET_EXCEEDED",
    message: `${usedText(over, over.hard)}.${cost} Nothing was started or charged.`,
    suggestion: `It renews at ${renewalText(over)}. The operator of this server can raise ${over.name}.`,
    details: { ...(estimate === undefined ? {} : { max_usd: estimate.usd.max }), ...budgetDetails(over, over.hard) },
  });
}

/** Refuses a search once a hard limit is reached; its cost is small and not known before. */
export async function refuseAboveBudget(
  deps: Pick<OperationDeps, "database" | "clock" | "settings">,
  call: Pick<Call, "owner">,
): Promise<void> {
  if (!Object.values(deps.settings.budgets).some(({ hard }) => hard !== undefined)) return;
  const over = exceededBy(await budgetsNow(deps, call), MIN_SEARCH_USD, "hard");
  if (over !== undefined) throw budgetExceeded(over, { what: "research", estimate: undefined });
}

const MIN_SEARCH_USD = 0.001;

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
