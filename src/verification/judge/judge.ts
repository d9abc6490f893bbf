/**
 * The judge of citations: asks Gemini's Decisions API how likely a page says each of the claims that cite it.
 *
 * A page is data: whatever it says, all that comes back is one number per claim (`questions.ts`). A request is counted at
 * its maximum cost before it is sent, so that no report costs more than the user's limit.
 */

import type { Evidence } from "../../claims/evidence.ts";
import type { Cost, CostOf } from "../../costs/actual.ts";
import type { Budgets } from "../../costs/budget.ts";
import { JUDGE_MODEL } from "../../costs/prices.ts";
import type { DecisionOutcome, DecisionRequest } from "../../gemini/decisions.ts";
import { NO_USAGE } from "../../gemini/search-backend.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { reserveJudgeRequest, settleJudgeRequest } from "../claim-store.ts";
import type { Judge, JudgeLimits, OpenClaim } from "./judge-port.ts";
import { batchesOf, maxInputTokens, questionId, requestAbout } from "./questions.ts";

/**
 * The probability from which a claim is likely. Google calls its probabilities calibrated: of the claims at 0.8, one in
 * five is not on the page. `npm run bench -- verdicts --judge` shows what other thresholds would do.
 */
export const LIKELY_FROM = 0.8;
/** Below it the comparison's likely is doubted; between the two, nothing changes. */
export const DOUBTED_BELOW = 0.2;

/** What a judgement makes of a claim that the comparison left open: it adds the probability, and may change the verdict. */
export function withJudgement(compared: Evidence, probability: number | undefined): Evidence {
  const judged = { ...compared, probability, judged: true };
  if (probability === undefined) return judged;
  if (probability >= LIKELY_FROM) return { ...judged, verdict: "likely", reason: undefined };
  if (probability >= DOUBTED_BELOW || compared.verdict !== "likely") return judged;
  return { ...judged, verdict: "not_found", reason: "The page has these words, and a model doubts that it says this." };
}

export interface JudgeDeps {
  db: Database;
  clock: Clock;
  log: Log;
  costOf: CostOf;
  keyFingerprint: string | undefined;
  decide(request: DecisionRequest): Promise<DecisionOutcome>;
  /** In US dollars for one report, over all its checks. */
  maxUsd: number;
  budgets: Budgets;
}

/** A key without the model costs a request an hour, and is noticed to have it within one. */
const UNAVAILABLE_MS = 3_600_000;
/** A client waits for the answer: after a longer pause, its next call asks again. */
const MAX_RETRY_PAUSE_MS = 3_000;

const BLOCKED = "Google's content filters refuse to judge a page.";
const INCOMPLETE = "Google's answer was incomplete.";

export function createJudge(deps: JudgeDeps): Judge {
  const { clock } = deps;
  const inTurn = takeTurns();
  let unavailable: { why: string; until: number } | undefined;
  const whyUnavailable = (): string | undefined =>
    unavailable !== undefined && clock.monotonic() < unavailable.until ? unavailable.why : undefined;

  /** The claims without an answer are counted by the reason. */
  const judgeBatch = async (result: Result, batch: readonly OpenClaim[], asked: Asked): Promise<void> => {
    const why = whyUnavailable();
    const outcome = why === undefined ? await ask(deps, asked) : ({ kind: "unavailable", why } as const);
    if (outcome.kind === "answered") return readAnswers(result, batch, outcome);
    if (outcome.kind === "over" || outcome.kind === "unavailable") result.isRefused = true;
    if (outcome.kind === "refused" && outcome.isLasting) {
      result.isRefused = true;
      unavailable = { why: outcome.why, until: clock.monotonic() + UNAVAILABLE_MS };
    }
    count(result, outcome.why, batch.length);
    deps.log.forRun(asked.taskId).debug(`${batch.length} citations were not judged: ${outcome.why}`);
  };

  return {
    canJudge: () => whyUnavailable() === undefined,
    judge: async ({ taskId, page, claims }, limits) => {
      const result: Result = { judged: new Map(), unjudged: new Map(), isRefused: false };
      const isComplete = await inTurn(taskId, async () => {
        for (const batch of batchesOf(claims)) {
          if (limits.signal.aborted || clock.monotonic() >= limits.deadline) return false;
          await judgeBatch(result, batch, { taskId, request: requestAbout(page, batch), limits });
        }
        return true;
      });
      return { ...result, isComplete };
    },
  };
}

/** One at a time for each report: requests in progress are counted at four times their cost, and would reach the limit. */
function takeTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}

type Result = { judged: Map<number, number | undefined>; unjudged: Map<string, number>; isRefused: boolean };

const count = ({ unjudged }: Result, why: string, claims: number): void =>
  void unjudged.set(why, (unjudged.get(why) ?? 0) + claims);

type Answered = Extract<DecisionOutcome, { kind: "answered" }>;

function readAnswers(result: Result, batch: readonly OpenClaim[], { probabilities, isBlocked }: Answered): void {
  for (const claim of batch) {
    const probability = probabilities.get(questionId(claim));
    // The same page would be blocked again; an incomplete answer may be complete the next time.
    if (probability !== undefined || isBlocked) result.judged.set(claim.n, probability);
    if (probability === undefined) count(result, isBlocked ? BLOCKED : INCOMPLETE, 1);
  }
}

interface Asked {
  taskId: string;
  request: DecisionRequest;
  limits: JudgeLimits;
}

type AskOutcome = DecisionOutcome | { kind: "over" | "deleted"; why: string };

/** A request that was certainly not charged is sent once more if Google asks for a short pause. */
async function ask(deps: JudgeDeps, asked: Asked): Promise<AskOutcome> {
  const { clock } = deps;
  const { signal, deadline } = asked.limits;
  const first = await askOnce(deps, asked);
  const pause = first.kind === "refused" ? first.retryAfterMs : undefined;
  if (pause === undefined || pause > MAX_RETRY_PAUSE_MS || clock.monotonic() + pause >= deadline) return first;
  await clock.sleep(pause, signal).catch(() => undefined);
  return signal.aborted ? first : askOnce(deps, asked);
}

async function askOnce(deps: JudgeDeps, { taskId, request }: Asked): Promise<AskOutcome> {
  const { db, clock, log, costOf, keyFingerprint, budgets, maxUsd: limitUsd } = deps;
  const at = clock.now();
  const costOfInput = (input: number): Cost => costOf({ ...NO_USAGE, input }, JUDGE_MODEL, at);
  const entry = { entryId: crypto.randomUUID(), taskId, model: JUDGE_MODEL, keyFingerprint };
  const maxUsd = costOfInput(maxInputTokens(request)).usd ?? Infinity;
  const reserved = await reserveJudgeRequest(db, { ...entry, maxUsd, limitUsd, budgets, now: at });
  if (reserved === "deleted") return { kind: "deleted", why: "The run was deleted." };
  if (reserved === "over") {
    return { kind: "over", why: `The limit of $${limitUsd} for this report is reached (VERIFY_JUDGE).` };
  }
  if (reserved === "over_budget")
    return { kind: "over", why: "The hard limit of a budget leaves no room for the request." };
  const outcome = await deps.decide(request);
  const inputTokens = outcome.kind === "refused" ? 0 : outcome.kind === "answered" ? outcome.inputTokens : undefined;
  // What may have been charged without being reported stays counted at its maximum.
  if (inputTokens !== undefined) {
    try {
      const cost = inputTokens === 0 ? "nothing" : costOfInput(inputTokens);
      await settleJudgeRequest(db, { ...entry, cost, now: clock.now() });
    } catch (error) {
      // The judgement is paid for and is kept; its cost stays unknown.
      log.forRun(taskId).warn(`A judge's usage was not stored: ${error instanceof Error ? error.message : "unknown"}`);
    }
  }
  return outcome;
}
