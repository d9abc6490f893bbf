/** Limits that a start must satisfy, in its transaction: on unfinished runs, and on costs that no person has confirmed. */

import { LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow, lockExclusive } from "../../store/dialect.ts";

/** Limits across all processes that share the database. */
export interface StartLimits {
  unfinished: number;
  perUser: number;
}

export const START_LIMITS: StartLimits = { unfinished: 20_000, perUser: 100 };

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
    .where("research_attempts.created_at", ">", (await databaseNow(db, now)) - WINDOW_MS)
    .where("research_attempts.state", "!=", "refused")
    .where("research_tasks.owner", "=", owner)
    .executeTakeFirst();
  return row?.usd ?? 0;
}
