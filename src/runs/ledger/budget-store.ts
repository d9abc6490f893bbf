/** SQL of the budgets, which count what the ledger has: the same sums are shown and decide. */

import { z } from "zod";
import {
  BUDGET_NAMES,
  type BudgetName,
  type Budgets,
  type BudgetState,
  isMonthly,
  isPerOwner,
  thresholdReached,
  warningText,
} from "../../costs/budget.ts";
import type { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow, lockExclusive } from "../../store/dialect.ts";
import { type Outlay, refusalAbove } from "./hard-limit.ts";
import { dayNumber, MICROS } from "./ledger-store.ts";

interface Spender {
  owner: string;
  /** By the clock of this machine. */
  now: number;
}

/** The budgets that are set, with what counts against each now. */
export async function readBudgets(db: Database, budgets: Budgets, { owner, now }: Spender): Promise<BudgetState[]> {
  const set = BUDGET_NAMES.filter((name) => budgets[name]?.soft !== undefined || budgets[name]?.hard !== undefined);
  // Most searches are made where no budget can refuse them.
  if (set.length === 0) return [];
  const at = await databaseNow(db, now);
  const states = [];
  for (const name of set) {
    const { from, until } = periodOf(name, at);
    const row = await db
      .selectFrom("ledger")
      .select((entry) => entry.fn.sum<number | null>("micros").as("micros"))
      .where("day", ">=", dayNumber(from))
      .where("day", "<", dayNumber(until))
      .$if(isPerOwner(name), (query) => query.where("owner", "=", owner))
      .executeTakeFirst();
    states.push({ name, ...budgets[name], usedUsd: (row?.micros ?? 0) / MICROS, renewsAt: until });
  }
  return states;
}

/** The UTC day or month. */
function periodOf(name: BudgetName, at: number): { from: number; until: number } {
  const now = new Date(at);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  return isMonthly(name)
    ? { from: Date.UTC(year, month), until: Date.UTC(year, month + 1) }
    : { from: Date.UTC(year, month, day), until: Date.UTC(year, month, day + 1) };
}

interface Request extends Outlay {
  owner: string;
  /** By the clock of this machine. */
  now: number;
}

/** Of hard limits, in the transaction that reserves the request, which waits for other reservations of requests and starts. */
export async function refusalOf(
  transaction: Database,
  budgets: Budgets,
  { owner, now, ...outlay }: Request,
): Promise<AppError | undefined> {
  await lockExclusive(transaction, "starts");
  return refusalAbove(budgets, await readBudgets(transaction, budgets, { owner, now }), outlay);
}

export interface BudgetWarning {
  /** Stored with the start that gives it. */
  mark: string;
  text: string;
}

const marks = z.array(z.string()).catch([]);

/** The thresholds that a start reaches first in its period; a higher one includes those below it. */
export async function newWarnings(
  transaction: Database,
  states: readonly BudgetState[],
  { owner, maxUsd }: { owner: string; maxUsd: number },
): Promise<BudgetWarning[]> {
  const warnings = [];
  for (const state of states) {
    const threshold = thresholdReached(state, maxUsd);
    if (threshold === undefined) continue;
    const given = await marksSince(transaction, state, owner);
    const isGiven = given.some((mark) => mark.startsWith(`${state.name} `) && Number(mark.split(" ")[1]) >= threshold);
    if (!isGiven) {
      warnings.push({ mark: `${state.name} ${threshold}`, text: warningText(state, maxUsd) });
    }
  }
  return warnings;
}

async function marksSince(db: Database, { name, renewsAt }: BudgetState, owner: string): Promise<string[]> {
  const { from } = periodOf(name, renewsAt - 1);
  const rows = await db
    .selectFrom("ledger")
    .select("warned")
    .where("day", ">=", dayNumber(from))
    .where("warned", "is not", null)
    .$if(isPerOwner(name), (query) => query.where("owner", "=", owner))
    .execute();
  return rows.flatMap(({ warned }) => marks.parse(JSON.parse(warned ?? "[]")));
}
