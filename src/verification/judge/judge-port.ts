/** What a check of citations needs of a model that judges claims. */

import type { Claim, Verdict } from "../../claims/evidence.ts";
import type { PageText } from "../../pages/page.ts";

/** A model that says how likely a page says what the comparison of texts did not find there literally. */
export interface Judge {
  /** False while a request would be in vain because the model is not offered. */
  canJudge(): boolean;
  /** A request that is in progress at an abort is paid for, so its answer is awaited. */
  judge(request: JudgeRequest, limits: JudgeLimits): Promise<Judgements>;
}

interface JudgeRequest {
  taskId: string;
  page: PageText;
  claims: readonly OpenClaim[];
}

/** A claim that the comparison of texts left open, and the passage of the page that is closest to it. */
export interface OpenClaim extends Claim {
  passage: string | undefined;
}

export interface JudgeLimits {
  signal: AbortSignal;
  /** On the monotonic clock; no request is sent after it. */
  deadline: number;
}

/** By number of the claim; undefined where there will be none, because the same request would end in the same way. */
export type Probabilities = ReadonlyMap<number, number | undefined>;

export interface Judgements {
  judged: Probabilities;
  /** Claims without a probability, by the reason, a sentence of this program. */
  unjudged: ReadonlyMap<string, number>;
  /** False if time ran out before all claims were asked about. */
  isComplete: boolean;
  /** Claims were refused for a reason that lasts: the model is not offered, or the limit for this report is reached. */
  isRefused: boolean;
}

/** What is literally on the page, or contradicts it, is decided without a model. */
export const isOpen = (verdict: Verdict): boolean => verdict === "likely" || verdict === "not_found";
