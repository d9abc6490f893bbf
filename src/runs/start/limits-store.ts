/** Limits that a start must satisfy, in its transaction: on unfinished runs, and budgets. */

import { LOCAL_OWNER } from "../../caller.ts";
import type { Budgets, BudgetState } from "../../costs/budget.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { lockExclusive } from "../../store/dialect.ts";
import { type BudgetWarning, newWarnings, readBudgets } from "../ledger/budget-store.ts";

/** Limits across all processes that share the database. */
export interface StartLimits {
  unfinished: number;
  perUser: number;
  budgets: Budgets;
}

export const START_LIMITS: StartLimits = { unfinished: 20_000, perUser: 100, budgets: {} };

/** Research runs take minutes, so an earlier retry would hardly succeed. */
const RETRY_AFTER_S = 60;

export async function refuseAboveLimits(
  transaction: Database,
  { unfinished, perUser }: StartLimits,
  { owner }: { owner: string },
): Promise<void> {
  await lockExclusive(transaction, "starts");
  if ((await countUnfinished(transaction, { upTo: unfinished })) >= unfinished) {
    throw busy(`This server has reached its limit of ${unfinished} runs in progress.`);
  }
  // The per-user limit does not apply to the server's operator.
  if (owner !== LOCAL_OWNER) {
    await lockExclusive(transaction, `starts of:${owner}`);
    if ((await countUnfinished(transaction, { upTo: perUser, owner })) >= perUser) {
      throw busy(`You have reached your limit of ${perUser} runs in progress.`);
    }
  }
}

const busy = (message: string): AppError =>
  new AppError({
    code: "BUSY",
    message: `${message} Nothing was started or charged.`,
    suggestion: `Try again in ${RETRY_AFTER_S} seconds.`,
    details: { retry_after: RETRY_AFTER_S },
    retryable: true,
  });

async function countUnfinished(
  db: Database,
  { upTo, owner }: { upTo: number; owner?: string | undefined },
): Promise<number> {
  const unfinished = db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("status", "in", ["pending", "running_async"])
    .where("kind", "=", "agent")
    .limit(upTo);
  const row = await db
    .selectFrom((owner === undefined ? unfinished : unfinished.where("owner", "=", owner)).as("unfinished"))
    .select((select) => select.fn.countAll<number>().as("n"))
    .executeTakeFirstOrThrow();
  return row.n;
}

/**
 * Called with the budgets, and with what is reserved if that is known, when a start is certain to be new. Throws unless it may be made; returns whether a person has
 * confirmed it.
 */
export type CheckCost = (budgets: readonly BudgetState[], maxUsd?: number) => boolean;

export interface Admitted {
  isConfirmed: boolean;
  warnings: BudgetWarning[];
}

/** Inside the transaction of a start, which waits for other starts. */
export async function admitCost(
  transaction: Database,
  { budgets }: Pick<StartLimits, "budgets">,
  {
    owner,
    now,
    maxUsd,
    checkCost,
  }: { owner: string; now: number; maxUsd: number | undefined; checkCost: CheckCost | undefined },
): Promise<Admitted> {
  await lockExclusive(transaction, "starts");
  const states = await readBudgets(transaction, budgets, { owner, now });
  const isConfirmed = checkCost?.(states, maxUsd) ?? false;
  return { isConfirmed, warnings: await newWarnings(transaction, states, { owner, maxUsd: maxUsd ?? 0 }) };
}
