/** The SQL of how much may be under way: asked in the transaction of a start, before anything is stored or sent. */

import { LOCAL_OWNER } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { lockExclusive } from "../../store/dialect.ts";
import { takePermitOfMinute } from "../../store/rate-limiter.ts";

/** Over all processes that share the database; 0 is no limit. */
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

/** Researches take minutes: to ask sooner is of no use. */
const RETRY_AFTER_S = 60;

export async function refuseAboveLimits(
  transaction: Database,
  { unfinished, perUser, startsPerMinute }: StartLimits,
  { owner, keyFingerprint, now }: Starter,
): Promise<void> {
  if (unfinished > 0) {
    await lockExclusive(transaction, "starts");
    if ((await countUnfinished(transaction, { upTo: unfinished })) >= unfinished) {
      throw busy(`${unfinished} researches are under way, which is as many as this server takes.`, RETRY_AFTER_S);
    }
  }
  // The server's operator has no limit per user.
  if (perUser > 0 && owner !== LOCAL_OWNER) {
    await lockExclusive(transaction, `starts of:${owner}`);
    if ((await countUnfinished(transaction, { upTo: perUser, owner })) >= perUser) {
      throw busy(`${perUser} of your researches are under way, which is as many as a user may have.`, RETRY_AFTER_S);
    }
  }
  if (startsPerMinute > 0) {
    const pace = { name: `starts:${keyFingerprint ?? ""}`, perMinute: startsPerMinute };
    const wait = await takePermitOfMinute(transaction, pace, now);
    if (wait > 0) {
      const message = `Researches are started more often than ${startsPerMinute} times a minute, which is the limit of this server.`;
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
