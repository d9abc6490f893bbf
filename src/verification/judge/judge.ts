/** The judge of citations with a model: counts what it sends before it is sent, and what it used. */

import type { Evidence } from "../../claims/evidence.ts";
import type { CostOf } from "../../costs/actual.ts";
import { type Answer, PaidFailure } from "../../gemini/search-backend.ts";
import { AppError, type FailureReason } from "../../errors.ts";
import { cancelled as cancelledCall } from "../../gemini/failures.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { addJudgeUsage, countJudgeRequest } from "../claim-store.ts";
import type { Judge, JudgeRequest } from "./judge-port.ts";
import { judgeClaim, type JudgeValues } from "./judge-claim.ts";
import { judgePrice, maxOutputTokens } from "./judge-price.ts";

export interface JudgeDeps {
  db: Database;
  clock: Clock;
  log: Log;
  model: string;
  costOf: CostOf;
  promptFor(values: JudgeValues): string;
  send(prompt: string, limits: { signal: AbortSignal; maxOutputTokens: number }): Promise<Answer>;
}

/** An answer takes seconds. A client that cancelled does not wait; the shutdown of a process ends it sooner. */
const MAX_LATE_ANSWER_MS = 15_000;

export function createJudge(deps: JudgeDeps): Judge {
  const { clock, model } = deps;
  return {
    model,
    priceOf: (requests) => judgePrice(requests, deps, clock.now()),
    judge: async ({ taskId, source, page, claims }, { signal, deadline }) => {
      const evidence: Evidence[] = [];
      for (const claim of claims) {
        if (signal.aborted || clock.monotonic() >= deadline) return { evidence, isComplete: false };
        const late = abortedLater(signal, MAX_LATE_ANSWER_MS);
        try {
          const ask = (values: JudgeValues): Promise<string> =>
            askCounted(deps, { taskId, values, cancelled: signal, signal: late.signal });
          const found = await judgeClaim(ask, claim, page);
          if (found !== undefined) evidence.push({ claim: claim.n, source, kind: "page", judged: true, ...found });
        } catch (error) {
          if (signal.aborted || error instanceof RunDeleted) return { evidence, isComplete: false };
          logUnjudged(deps.log, taskId, error);
        } finally {
          late.dispose();
        }
      }
      return { evidence, isComplete: true };
    },
  };
}

/** A signal that is aborted some time after another one. */
function abortedLater(signal: AbortSignal, ms: number): { signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => controller.abort(signal.reason), ms);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const dispose = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, dispose };
}

class RunDeleted extends Error {}

interface Asked {
  taskId: JudgeRequest["taskId"];
  values: JudgeValues;
  /** Once aborted, nothing more is sent. */
  cancelled: AbortSignal;
  /** Ends the wait for an answer. */
  signal: AbortSignal;
}

/** Google does not charge for requests that it refuses for one of these reasons. */
const UNCHARGED = new Set<FailureReason | undefined>([
  "auth",
  "config",
  "billing",
  "location",
  "credentials",
  "blocked",
  "input",
  "rate_limit",
]);

/** A request that failed is not repeated: the verdict of the text comparison is kept. */
async function askCounted(deps: JudgeDeps, { taskId, values, cancelled, signal }: Asked): Promise<string> {
  const prompt = deps.promptFor(values);
  if (!(await countJudgeRequest(deps.db, taskId))) throw new RunDeleted();
  if (cancelled.aborted) {
    await countUncharged(deps.db, taskId);
    throw cancelledCall();
  }
  const counted = (counting: Promise<void>): Promise<void> =>
    // The judgement is paid for and is kept; its cost stays unknown.
    counting.catch((error: unknown) =>
      deps.log.forRun(taskId).warn(`A judge's usage was not stored: ${textOf(error)}`),
    );
  try {
    const answer = await deps.send(prompt, { signal, maxOutputTokens: maxOutputTokens(deps.model) });
    await counted(count(deps, taskId, answer));
    return answer.text;
  } catch (error) {
    if (error instanceof PaidFailure) await counted(count(deps, taskId, error.answer));
    else if (error instanceof AppError && UNCHARGED.has(error.reason)) await counted(countUncharged(deps.db, taskId));
    throw error;
  }
}

const countUncharged = (db: Database, taskId: string): Promise<void> =>
  addJudgeUsage(db, taskId, { input: 0, output: 0, costUsd: 0 });

async function count({ db, clock, costOf }: JudgeDeps, taskId: string, { usage, model }: Answer): Promise<void> {
  const { usd, incomplete } = costOf(usage, model, clock.now());
  // An answer without figures was charged all the same.
  const isKnown = !incomplete && usage.input + usage.output > 0;
  const costUsd = isKnown ? usd : undefined;
  await addJudgeUsage(db, taskId, { input: usage.input, output: usage.output, costUsd });
}

function logUnjudged(log: Log, taskId: string, error: unknown): void {
  log.forRun(taskId).warn(`A citation was not judged: ${textOf(error)}`);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
