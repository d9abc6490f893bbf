/** The judge of citations with a model: counts what it sends before it is sent, and what it used. */

import type { Evidence } from "../../claims/evidence.ts";
import { type CostOf, type Cost } from "../../costs/actual.ts";
import { type Answer, NO_USAGE, PaidFailure } from "../../gemini/search-backend.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { addJudgeUsage, countJudgeRequests } from "../claim-store.ts";
import type { Judge, JudgeRequest } from "../verify.ts";
import { judgeClaim } from "./judge-claim.ts";

export interface JudgeDeps {
  db: Database;
  clock: Clock;
  log: Log;
  model: string;
  costOf: CostOf;
  /** Fills in the prompt and sends it. */
  ask(values: { claim: string; passages: string }, signal: AbortSignal): Promise<Answer>;
}

/** Derived: the prompt with five passages, and a short answer with some thinking. */
const TOKENS_PER_REQUEST = { input: 1_400, output: 250 };

export function createJudge(deps: JudgeDeps): Judge {
  const { clock, model, costOf } = deps;
  return {
    model,
    estimateUsd: (requests) => {
      const { input, output } = TOKENS_PER_REQUEST;
      const usage = { ...NO_USAGE, input: input * requests, output: output * requests };
      const { usd, incomplete }: Cost = costOf(usage, model, clock.now());
      return incomplete ? undefined : usd;
    },
    judge: async ({ taskId, source, page, claims }, { signal, deadline }) => {
      const evidence: Evidence[] = [];
      for (const claim of claims) {
        if (signal.aborted || clock.monotonic() >= deadline) return { evidence, isComplete: false };
        try {
          const found = await judgeClaim((values) => askCounted(deps, { taskId, values, signal }), claim, page);
          if (found !== undefined) evidence.push({ claim: claim.n, source, kind: "page", judged: true, ...found });
        } catch (error) {
          if (signal.aborted || error instanceof RunDeleted) return { evidence, isComplete: false };
          logUnjudged(deps.log, taskId, error);
        }
      }
      return { evidence, isComplete: true };
    },
  };
}

class RunDeleted extends Error {}

interface Asked {
  taskId: JudgeRequest["taskId"];
  values: { claim: string; passages: string };
  signal: AbortSignal;
}

/** A request that failed is not repeated: the comparison of texts stands. */
async function askCounted(deps: JudgeDeps, { taskId, values, signal }: Asked): Promise<string> {
  if (!(await countJudgeRequests(deps.db, taskId, 1))) throw new RunDeleted();
  try {
    const answer = await deps.ask(values, signal);
    await count(deps, taskId, answer);
    return answer.text;
  } catch (error) {
    if (error instanceof PaidFailure) await count(deps, taskId, error.answer);
    throw error;
  }
}

async function count({ db, clock, costOf }: JudgeDeps, taskId: string, { usage, model }: Answer): Promise<void> {
  const { usd = 0 } = costOf(usage, model, clock.now());
  await addJudgeUsage(db, taskId, { input: usage.input, output: usage.output, costUsd: usd });
}

function logUnjudged(log: Log, taskId: string, error: unknown): void {
  log.forRun(taskId).warn(`A citation was not judged: ${error instanceof Error ? error.message : "unknown"}`);
}
