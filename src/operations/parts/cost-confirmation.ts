/** The cost confirmation before a paid start: when it is required, its texts, and the errors when the user did not agree. */

import { type Estimate, type FollowupEstimate, type PlanStage, withMaterial } from "../../costs/estimate.ts";
import type { Cost } from "../../costs/actual.ts";
import { dollars } from "../../costs/dollars.ts";
import {
  BUDGET_NAMES,
  type BudgetState,
  exceededBy,
  hasHardLimit,
  renewalText,
  settingOf,
} from "../../costs/budget.ts";
import { DEFAULT_API_MODEL } from "../../costs/prices.ts";
import { maxUsageOf } from "../../costs/search-bound.ts";
import { AppError } from "../../errors.ts";
import { budgetDetails, refusalAbove, usedText } from "../../runs/ledger/hard-limit.ts";
import type { CheckCost } from "../../runs/start/limits-store.ts";
import type { Call, Operation, OperationDeps, Question } from "../operation.ts";
import type { AnsweredBefore } from "../question/asked-before.ts";
import { covers, type Subject } from "../question/subject.ts";

export interface PaidStart {
  /** What is decided on, besides the price. */
  about: Omit<Subject, "max_usd">;
  /** Never shown in the question: a model may have written it, and the question is in our own words. */
  query: string;
  agent: string;
  /** Of a start that asks for a plan, or that carries one out. */
  plan?: PlanStage | undefined;
  /** A rough count of the tokens that are sent besides the question. */
  tokens?: number;
  /** Of a restart: what its first start was expected to cost, which counts without a price today. */
  before?: FollowupEstimate | undefined;
  /** How many starts may be charged; above one, whatever it costs, a person decides. */
  charges?: number;
  /** The estimate of a follow-up, which is asked about in its own words; null if its model has no price. */
  followup?: FollowupEstimate | null | undefined;
  /** The follow-up makes a table. */
  isTable?: boolean | undefined;
  /** Finds a report that answers the question already: a second one is asked about, whatever it costs. */
  answered?: (() => Promise<AnsweredBefore | undefined>) | undefined;
}

/**
 * Returns the estimate to store, if there is a price, and a check that throws unless the user has agreed to this very start or needs not be asked. Transports ask before
 * the call, when the start might still join another run, and other starts add to the sum meanwhile; the check runs in
 * the transaction of the start.
 */
export async function requireCostConsent(
  deps: OperationDeps,
  call: Pick<Call, "owner" | "agreed">,
  start: PaidStart,
): Promise<{ checkCost: CheckCost; estimate: Record<string, unknown> | undefined }> {
  const priced = await priceOf(deps, call, start);
  return {
    checkCost: (budgets, maxUsd) => {
      const refusal = refusalOfStart(deps, priced, { budgets, maxUsd });
      if (refusal !== undefined) throw refusal;
      const question = questionOn(deps, priced, budgets);
      if (question !== undefined) requireConsent(call, question);
      return covers(call.agreed, priced.subject);
    },
    estimate: priced.estimate && { ...priced.estimate },
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
  if (refusalOfStart(deps, priced, { budgets }) !== undefined) return undefined;
  const question = questionOn(deps, priced, budgets);
  const answered = await start.answered?.();
  return answered === undefined ? question : askedAgain(priced, answered, question);
}

/** The budgets that are set, with what counts against them: the numbers that decide about a start. */
export async function budgetsNow(
  deps: Pick<OperationDeps, "database" | "clock" | "settings">,
  { owner }: Pick<Call, "owner">,
): Promise<BudgetState[]> {
  const { budgets } = deps.settings;
  if (!BUDGET_NAMES.some((name) => budgets[name]?.soft !== undefined || budgets[name]?.hard !== undefined)) return [];
  const { readBudgets } = await import("../../runs/ledger/budget-store.ts");
  return readBudgets(await deps.database(), budgets, { owner, now: deps.clock.now() });
}

interface PricedStart {
  what: "research" | "follow-up" | "plan" | "table";
  agent: string;
  charges: number;
  /** Undefined if the agent or model has no price. */
  estimate: (Pick<Estimate, "usd" | "agent"> & Partial<Estimate>) | undefined;
  /** Without a key or a database nothing is charged: the start fails and reports what is missing. */
  canBeCharged: boolean;
  subject: Subject;
}

async function priceOf(deps: OperationDeps, call: Pick<Call, "owner">, start: PaidStart): Promise<PricedStart> {
  const { about, query, agent, plan, tokens = 0, charges = 1, followup, before, isTable = false } = start;
  const estimate =
    followup === undefined
      ? ((await estimateFor(deps, call, { query, agent, plan, tokens })) ?? before)
      : (followup ?? undefined);
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
  const cost = `This ${what} will cost about ${about} (up to ${max}) with ${estimate.agent}${estimate.isFamilyPrice === true ? ", at the highest price of its family" : ""}`;
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
    unasked: `raise ${settingOf(over.name)} for this server`,
    details: { estimated_cost_usd: charges * likely, ...budgetDetails(over, over.soft) },
    subject,
  };
}

/** Puts what is known already before the question about the cost, or before the price if that would not be asked about. */
function askedAgain(
  { what, estimate, subject }: PricedStart,
  { text, run, instead, details }: AnsweredBefore,
  question: Question | undefined,
): Question {
  const price =
    estimate === undefined ? "" : ` for about ${dollars(estimate.usd.likely)} (up to ${dollars(estimate.usd.max)})`;
  return {
    subject,
    ...question,
    ask: `${text} ${question?.ask ?? `${VERBS[what]} this ${what} anyway${price}?`}`,
    because: `${text} ${question?.because ?? `This ${what} would be a second one${price}.`}`,
    // Asked whatever it costs.
    unasked: undefined,
    details: { ...question?.details, answered: details },
    run,
    next: [
      { do: instead },
      { do: "start", with: "force_new" },
      ...(instead === "read" ? [{ do: "compare" } as const] : []),
    ],
  };
}

const UNCHARGED = "Nothing was started or charged.";

function refusalOfStart(
  { settings }: Pick<OperationDeps, "settings">,
  { what, agent, estimate }: PricedStart,
  { budgets, maxUsd = estimate?.usd.max }: { budgets: readonly BudgetState[]; maxUsd?: number | undefined },
): AppError | undefined {
  if (maxUsd === undefined && hasHardLimit(settings.budgets)) return unpriced(agent);
  return refusalAbove(settings.budgets, budgets, { what, maxUsd, undone: UNCHARGED });
}

const unpriced = (agent: string): AppError =>
  new AppError({
    code: "BUDGET_EXCEEDED",
    message: `There is no price for ${agent}, so it cannot be checked against the hard limit on costs. ${UNCHARGED}`,
    suggestion: "Use an agent with a price, or add its price to prices.json in the config directory.",
    details: { agent },
  });

/** Refuses a search before it is stored. Each of its requests is checked again when it is reserved. */
export async function refuseAboveBudget(
  deps: Pick<OperationDeps, "clock" | "database" | "recorder" | "settings">,
  call: Pick<Call, "owner">,
  /** What the search that it continues counts. */
  usedUsd = 0,
): Promise<void> {
  const { budgets } = deps.settings;
  if (!hasHardLimit(budgets)) return;
  const { obstacle } = await deps.recorder();
  const cause = await obstacle();
  if (cause !== undefined) throw uncheckable(cause);
  const { usd: maxUsd } = await maxRequestCost(deps);
  const outlay = { what: "search", maxUsd, usedUsd, undone: UNCHARGED };
  const refusal = refusalAbove(budgets, await budgetsNow(deps, call), outlay);
  if (refusal !== undefined) throw refusal;
}

/** What one request of a search may cost; undefined without a price of its model, even if its fees are known. */
export async function maxRequestUsd(deps: RequestDeps): Promise<number | undefined> {
  const { usd, incomplete } = await maxRequestCost(deps);
  return incomplete ? undefined : usd;
}

type RequestDeps = Pick<OperationDeps, "clock" | "recorder" | "settings">;

async function maxRequestCost({ clock, recorder, settings }: RequestDeps): Promise<Cost> {
  const { costOf } = await recorder();
  const usage = maxUsageOf({ purpose: "research", prompt: "" });
  return costOf(usage, settings.searchModel ?? DEFAULT_API_MODEL, clock.now());
}

/** What other processes have spent is unknown, and what this one spends would be forgotten. */
const uncheckable = ({ code, message, suggestion, details }: AppError): AppError =>
  new AppError({
    code,
    message: `${message} A hard limit on costs cannot be checked, so nothing was searched.`,
    suggestion,
    details,
  });

const NOTHING_STARTED = "Nothing was started.";

/** A run answers the question already, or is about to. */
export const isAnswered = ({ details }: Pick<Question, "details">): boolean => details?.["answered"] !== undefined;

/** What is known already is still there. */
export const declined = (question?: Question): AppError =>
  new AppError({
    code: "DECLINED",
    message: "The user declined. Nothing was started, charged or deleted.",
    suggestion: "Do not try again unless the user asks for it.",
    ...(question !== undefined && isAnswered(question)
      ? { run: question.run, next: question.next?.filter(({ do: verb }) => verb === "read" || verb === "wait") }
      : {}),
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
    next: question.next,
    details: question.details,
    run: question.run,
  });

/** In a terminal the user is asked, with the price. */
const COMMANDS: Readonly<Record<string, (run: string) => string>> = {
  ask_followup: (run) => `followup ${run} "…"`,
  resume_research: (run) => `retry ${run}`,
};

function waysToApprove(operation: string, { unasked, command, subject }: Question): string {
  const typed = command ?? COMMANDS[operation]?.(subject.run?.slice(0, 8) ?? "<run>") ?? 'research "…"';
  return `the user can ${unasked === undefined ? "" : `${unasked}, or `}decide on the page (gemini-search-mcp open) or in a terminal: gemini-search-mcp ${typed}`;
}
