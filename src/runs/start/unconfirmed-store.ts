/** The sum of paid starts that no person confirmed: many starts, each below the limit, may not add up unnoticed. */

import type { Database } from "../../store/database.ts";
import { lockExclusive } from "../../store/dialect.ts";

const WINDOW_MS = 24 * 3_600_000;

/**
 * Called with the sum of the owner's unconfirmed starts when a start is certain to be new. Throws if a person must
 * confirm it; returns its likely cost, or undefined if a person has confirmed it.
 */
export type CheckCost = (unconfirmedUsd: number) => number | undefined;

interface Spender {
  owner: string;
  now: number;
}

/** Inside the transaction of a start, which waits for other starts of the owner. Returns what this one adds to the sum. */
export async function admitCost(
  transaction: Database,
  spender: Spender,
  checkCost: CheckCost | undefined,
): Promise<number | undefined> {
  if (checkCost === undefined) return undefined;
  await lockExclusive(transaction, `spending of:${spender.owner}`);
  return checkCost(await sumUnconfirmed(transaction, spender));
}

/** Likely costs in US dollars. A start that failed without a charge does not count, one with an unknown outcome does. */
export async function sumUnconfirmed(db: Database, { owner, now }: Spender): Promise<number> {
  const row = await db
    .selectFrom("research_attempts")
    .innerJoin("research_tasks", "research_tasks.task_id", "research_attempts.task_id")
    .select((select) => select.fn.sum<number | null>("research_attempts.unconfirmed_usd").as("usd"))
    .where("research_attempts.unconfirmed_usd", "is not", null)
    .where("research_attempts.created_at", ">", now - WINDOW_MS)
    .where("research_attempts.state", "!=", "refused")
    .where("research_tasks.owner", "=", owner)
    .executeTakeFirst();
  return row?.usd ?? 0;
}
