/** Which runs are this process's to follow: taken from the engine, kept while it works, given back when it leaves. */

import type { RunQueue } from "../queue/queue.ts";
import { aloneOrNot } from "../store/dialect.ts";
import { type Pace, turnsNow, useTurns } from "../store/pace.ts";
import { followers, tellFollowing } from "../store/processes.ts";
import {
  countToFollow,
  followedRuns,
  handRuns,
  letGoOfEnded,
  runsHandedTo,
  takeBackFrom,
  takeBackFromOthers,
} from "./handed-store.ts";
import type { ResearchDeps } from "./research.ts";

export interface Handing {
  /** Until the process leaves; then everything is given back. */
  follow(): Promise<void>;
  /** By any process, one of all in its turn: what is with nobody, or with the dead, is there to be taken. */
  sweep(): Promise<void>;
}

export interface HandingOptions {
  deps: Pick<ResearchDeps, "db" | "processId" | "clock" | "log" | "leaving">;
  queue: RunQueue;
  mostFollowed: number;
  /** Something new may be due here. */
  wake: () => void;
}

/** However many processes there are, the tables are gone through once in five seconds. */
const SWEEPS: Pace = { name: "sweep", perSecond: 0.2 };
const TAKE_MS = 1_000;
const MOST_AT_ONCE = 1_000;
const KEEP_MS = 7_000;
const BALANCE_MS = 60_000;
/** Others take before it takes again what it has just given back. */
const OTHERS_FIRST_MS = 3_000;
/** Above an even share by this much, nothing is moved: runs come and go. */
const SLACK = 1.25;

export function createHanding({ deps, queue, mostFollowed, wake }: HandingOptions): Handing {
  const { db, processId, clock, log, leaving } = deps;
  let held = 0;
  let takeFrom = 0;
  const turns = {
    keep: every(KEEP_MS, clock.now),
    balance: every(BALANCE_MS, clock.now),
  };

  const keep = async (): Promise<void> => {
    // Before anything is taken: what is with a process that does not follow is taken from it.
    await tellFollowing(db, processId, { now: clock.now() });
    const taskIds = await runsHandedTo(db, processId);
    held = taskIds.length;
    await queue.keep(taskIds);
  };

  const take = async (): Promise<void> => {
    for (let most = MOST_AT_ONCE; most === MOST_AT_ONCE && clock.now() >= takeFrom && !leaving.aborted;) {
      const room = Math.min(MOST_AT_ONCE, mostFollowed - held);
      if (room <= 0) return;
      const taken = await db.transaction().execute(async (transaction) => {
        const taskIds = await queue.take(transaction, room);
        await handRuns(transaction, taskIds, processId);
        return taskIds;
      });
      most = taken.length;
      held += most;
    }
  };

  /** A worker that came later gets some of what the others have. */
  const balance = async (): Promise<void> => {
    const workers = await followers(db, clock.now());
    const share = Math.ceil((await countToFollow(db)) / Math.max(1, workers.length));
    const taskIds = await runsHandedTo(db, processId);
    const tooMany = taskIds.slice(Math.ceil(share * SLACK)).slice(-MOST_AT_ONCE);
    if (tooMany.length === 0) return;
    takeFrom = clock.now() + OTHERS_FIRST_MS;
    await giveBack(tooMany);
  };

  const giveBack = (some?: string[]): Promise<void> =>
    db.transaction().execute(async (transaction) => {
      await queue.giveBack(transaction, await takeBackFrom(transaction, processId, some));
    });

  return {
    follow: async () => {
      while (!leaving.aborted) {
        try {
          if (turns.keep()) await keep();
          if (turns.balance()) await balance();
          await take();
        } catch (error) {
          log.warn(`Taking research runs: ${error instanceof Error ? error.message : "a fault"}; going on.`);
        }
        wake();
        await clock.sleep(TAKE_MS, leaving).catch(() => undefined);
      }
      await giveBack();
      await tellFollowing(db, processId, undefined);
    },
    sweep: () => sweepHanded(deps, queue),
  };
}

async function sweepHanded({ db, clock, log }: HandingOptions["deps"], queue: RunQueue): Promise<void> {
  if (!queue.hands) return;
  const lost = await db.transaction().execute(async (transaction) => {
    if (!(await aloneOrNot(transaction, "sweep"))) return 0;
    const used = await turnsNow(transaction, SWEEPS, clock.now());
    if (used.turns === 0) return 0;
    await useTurns(transaction, SWEEPS, { ...used, turns: 1 });
    const taskIds = await takeBackFromOthers(transaction, await followers(transaction, clock.now()));
    await queue.giveBack(transaction, taskIds);
    await letGoOfEnded(transaction);
    const { silent } = await queue.repair(transaction, followedRuns(transaction));
    return taskIds.length + silent;
  });
  if (lost > 0) log.info(`${lost} research ${lost === 1 ? "run" : "runs"} of a worker that is gone can be taken up.`);
}

/** True at once and then once in so many milliseconds, also when the clock was set back. */
function every(ms: number, now: () => number): () => boolean {
  let last = -Infinity;
  return () => {
    const since = now() - last;
    if (since >= 0 && since < ms) return false;
    last = now();
    return true;
  };
}
