/** Budgets: what may be spent on a run, and in a UTC day or month, overall and per owner, and when a user is warned, asked or refused. */

import { dollars } from "./dollars.ts";

/** In US dollars. Above `soft` a person decides; above `hard` nothing is started. */
export interface Budget {
  soft?: number | undefined;
  hard?: number | undefined;
}

export const BUDGET_NAMES = [
  "BUDGET_DAY_USD",
  "BUDGET_MONTH_USD",
  "BUDGET_OWNER_DAY_USD",
  "BUDGET_OWNER_MONTH_USD",
] as const;
export type BudgetName = (typeof BUDGET_NAMES)[number];

/** The budgets that are set. */
export interface Budgets extends Partial<Record<BudgetName, Budget>> {
  /** Of a single run: above `soft` its likely cost is asked about, above `hard` its highest is refused. */
  run?: Budget;
  /** Of the run of a schedule: what was left of the schedule's budget. */
  schedule?: Budget;
}

/** A budget with what counts against it now. */
export interface BudgetState extends Budget {
  name: BudgetName;
  /** Settled and reserved: the number that decides, and the one that is shown. */
  usedUsd: number;
  renewsAt: number;
}

export const isMonthly = (name: BudgetName): boolean => name.includes("MONTH");
export const isPerOwner = (name: BudgetName): boolean => name.includes("OWNER");
type BudgetSetting = "BUDGET_DAY_USD" | "BUDGET_MONTH_USD" | "BUDGET_OWNER_USD";

/** The setting that changes a budget: each user's budgets have one. */
export const settingOf = (name: BudgetName): BudgetSetting =>
  name === "BUDGET_DAY_USD" || name === "BUDGET_MONTH_USD" ? name : "BUDGET_OWNER_USD";

/** `20` warns and asks, `20/60` also refuses above 60, `off` is no budget. */
export function parseBudget(text: string): Budget {
  const [soft, hard] = (text.match(/\d+(?:\.\d*)?|\.\d+/g) ?? []).map(Number);
  return soft === undefined ? {} : { soft: Math.min(soft, hard ?? soft), hard };
}

type BudgetSettings = Readonly<Record<BudgetSetting | "RESEARCH_CONFIRM_ABOVE_USD", string>>;

export function parseBudgets(settings: BudgetSettings): Budgets {
  const own = settings.BUDGET_OWNER_USD.split(",");
  const ownBudget = (period: "day" | "month"): Budget => parseBudget(own.find((part) => part.endsWith(period)) ?? "");
  return {
    BUDGET_DAY_USD: parseBudget(settings.BUDGET_DAY_USD),
    BUDGET_MONTH_USD: parseBudget(settings.BUDGET_MONTH_USD),
    BUDGET_OWNER_DAY_USD: ownBudget("day"),
    BUDGET_OWNER_MONTH_USD: ownBudget("month"),
    run: parseBudget(settings.RESEARCH_CONFIRM_ABOVE_USD),
  };
}

export const hasHardLimit = (budgets: Budgets): boolean =>
  Object.values(budgets).some((budget: Budget) => budget.hard !== undefined);

/** The budget of which least is left for a start of this cost; undefined if each has room for it. */
export function exceededBy(
  states: readonly BudgetState[],
  maxUsd: number,
  limit: "soft" | "hard",
): BudgetState | undefined {
  const left = ({ usedUsd, [limit]: usd = Infinity }: BudgetState): number => usd - usedUsd - maxUsd;
  const isOver = (state: BudgetState): boolean => left(state) < -ROUNDING_USD;
  return states.filter(isOver).toSorted((one, other) => left(one) - left(other))[0];
}

/** Sums of floating-point numbers; the ledger counts in millionths. */
export const ROUNDING_USD = 1e-7;

const THRESHOLDS = [95, 80, 50] as const;

/** The highest share of a soft budget, in percent, that a start of this cost reaches; undefined below the first. */
export function thresholdReached({ soft, usedUsd }: BudgetState, maxUsd: number): number | undefined {
  if (soft === undefined || soft === 0) return undefined;
  const percent = ((usedUsd + maxUsd) / soft) * 100;
  return THRESHOLDS.find((threshold) => percent >= threshold - ROUNDING_USD);
}

const PERIODS: Record<BudgetName, string> = {
  BUDGET_DAY_USD: "today's budget",
  BUDGET_MONTH_USD: "this month's budget",
  BUDGET_OWNER_DAY_USD: "your budget for today",
  BUDGET_OWNER_MONTH_USD: "your budget for this month",
};

export const budgetName = (name: BudgetName): string => PERIODS[name];

/** `2026-11-20 00:00 UTC`. */
export const renewalText = ({ renewsAt }: BudgetState): string =>
  `${new Date(renewsAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** The warning of the start that reaches a threshold. */
export function warningText(state: BudgetState, maxUsd: number): string {
  const { name, soft = 0, usedUsd } = state;
  const percent = Math.floor(((usedUsd + maxUsd) / soft) * 100 + ROUNDING_USD);
  return `With this, ${percent} % of ${budgetName(name)} may be used: ${dollars(usedUsd + maxUsd)} of ${dollars(soft)}. It renews at ${renewalText(state)}.`;
}

/** What is left before a person is asked or, above that, before nothing is started. */
export function leftText({ name, soft, hard, usedUsd }: BudgetState): string {
  const limit = soft !== undefined && (usedUsd < soft || hard === undefined) ? soft : (hard ?? 0);
  const left = Math.max(0, Math.floor((limit - usedUsd) * 100 + ROUNDING_USD) / 100);
  return `${dollars(left)} left of ${budgetName(name)} (${dollars(limit)})`;
}
