/** The hard limits of the budgets: what would exceed one is refused before it is sent. */

import {
  budgetName,
  type Budgets,
  type BudgetState,
  exceededBy,
  renewalText,
  ROUNDING_USD,
  settingOf,
} from "../../costs/budget.ts";
import { dollars } from "../../costs/dollars.ts";
import { AppError } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";

/** A request, or the start of a run. */
export interface Outlay {
  /** As in `this search`. */
  what: string;
  /** Undefined without a price: then only what counts already decides. */
  maxUsd: number | undefined;
  /** What counts for the run already. */
  usedUsd?: number;
  /** The part of it that counts for the search that it continues, and is no longer left of the budget of a schedule. */
  earlierUsd?: number | undefined;
  /** What was not done, as a sentence. */
  undone: string;
}

/** The error for what would exceed a hard limit of these budgets; undefined if each has room for it. */
export function refusalAbove(budgets: Budgets, states: readonly BudgetState[], outlay: Outlay): AppError | undefined {
  const { what, maxUsd, usedUsd = 0, earlierUsd = 0, undone } = outlay;
  const cost = maxUsd === undefined ? "" : ` This ${what} may cost up to ${dollars(maxUsd)}.`;
  const about = maxUsd === undefined ? {} : { max_usd: maxUsd };
  const ofSchedule = budgets.schedule?.hard ?? Infinity;
  const usedOfSchedule = usedUsd - earlierUsd;
  if (usedOfSchedule + (maxUsd ?? 0) > ofSchedule + ROUNDING_USD) {
    return new AppError({
      code: "BUDGET_EXCEEDED",
      message: `The budget of the schedule had ${dollars(exact(ofSchedule))} left.${cost} ${undone}`,
      suggestion: "Raise the budget of the schedule.",
      details: { ...about, limit_usd: exact(ofSchedule), used_usd: exact(usedOfSchedule) },
    });
  }
  const perRun = budgets.run?.hard ?? Infinity;
  if (usedUsd + (maxUsd ?? 0) > perRun + ROUNDING_USD) {
    const used = usedUsd === 0 ? "" : ` ${dollars(exact(usedUsd))} of it is used or reserved.`;
    return new AppError({
      code: "BUDGET_EXCEEDED",
      message: `The limit of a run is ${dollars(perRun)}.${used}${cost} ${undone}`,
      suggestion: "Ask a narrower question. The operator of this server can raise RESEARCH_CONFIRM_ABOVE_USD.",
      details: { ...about, budget: "RESEARCH_CONFIRM_ABOVE_USD", limit_usd: perRun, used_usd: exact(usedUsd) },
    });
  }
  const over = exceededBy(states, maxUsd ?? 0, "hard");
  if (over === undefined) return undefined;
  return new AppError({
    code: "BUDGET_EXCEEDED",
    message: `${usedText(over, over.hard)}.${cost} ${undone}`,
    suggestion: `It renews at ${renewalText(over)}. The operator of this server can raise ${settingOf(over.name)}.`,
    details: { ...about, ...budgetDetails(over, over.hard) },
  });
}

/** `$18.20 of today's budget of $20 is used`. */
export const usedText = ({ name, usedUsd }: BudgetState, limit = 0): string =>
  `${dollars(exact(usedUsd))} of ${budgetName(name)} of ${dollars(limit)} is used or reserved`;

export const budgetDetails = ({ name, usedUsd, renewsAt }: BudgetState, limit = 0) => ({
  budget: settingOf(name),
  limit_usd: limit,
  used_usd: exact(usedUsd),
  left_usd: exact(Math.max(0, limit - usedUsd)),
  renews_at: isoTime(renewsAt),
});

/** Without the fractions of a sum of floating-point numbers; a request may cost less than a cent. */
const exact = (usd: number): number => Math.round(usd * 1e6) / 1e6;
