/** Enforces the limits on unfinished runs and start rate, in the transaction of a start. */

import { LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { lockExclusive } from "../../store/dialect.ts";
import { takePermitOfMinute } from "../../store/rate-limiter.ts";

/** Limits across all processes that share the database; 0 means no limit. */
export interface StartLimits {
  unfinished: number;
  perUser: number;
  startsPerMinute: number;
}

export const NO_LIMITS: StartLimits = { unfinished: 0, perUser: 0, startsPerMinute: 0 };

export interface Starter {
  owner: string;
  keyFingerprint: string | undefined;
  now: number;
}

/** Research runs take minutes, so an earlier retry would hardly succeed. */
const RETRY_AFTER_S = 60;

export async function refuseAboveLimits(
  transaction: Database,
  { unfinished, perUser, startsPerMinute }: StartLimits,
  { owner, keyFingerprint, now }: Starter,
): Promise<void> {
  if (unfinished > 0) {
    await lockExclusive(transaction, "starts");
    if ((await countUnfinished(transaction, { upTo: unfinished })) >= unfinished) {
      throw busy(`This server has reached its limit of ${unfinished} runs in progress.`, RETRY_AFTER_S);
    }
  }
  // The per-user limit does not apply to the server's operator.
  if (perUser > 0 && owner !== LOCAL_OWNER) {
    await lockExclusive(transaction, `starts of:${owner}`);
    if ((await countUnfinished(transaction, { upTo: perUser, owner })) >= perUser) {
      throw busy(`You have reached your limit of ${perUser} runs in progress.`, RETRY_AFTER_S);
    }
  }
  if (startsPerMinute > 0) {
    const rate = { name: `starts:${keyFingerprint ?? ""}`, perMinute: startsPerMinute };
    const wait = await takePermitOfMinute(transaction, rate, now);
    if (wait > 0) {
      const message = `The server's limit of ${startsPerMinute} research starts per minute is reached.`;
      throw busy(message, Math.ceil(wait / 1_000));
    }
  }
}

const busy = (message: string, seconds: number): AppError =>
  new AppError({
    code: "BUSY",
    message: `${message} Nothing was started or charged.`,
    suggestion: `Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`,
    details: { retry_after: seconds },
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
