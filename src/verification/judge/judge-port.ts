/** What a check of citations needs of a model that judges claims. */

import type { Claim, Evidence } from "../../claims/evidence.ts";
import type { PageText } from "../../pages/page.ts";

/** For each claim that a judge is asked about. */
export const MAX_PASSAGES = 5;

/** A model that judges what the comparison of texts did not confirm. */
export interface Judge {
  model: string;
  /** Undefined without a price of the model. */
  priceOf(requests: number): JudgePrice | undefined;
  /**
   * Returns evidence about those claims that it could judge until it was aborted or out of time. A request that is in
   * progress at an abort is paid for, so its answer is awaited for a bounded time.
   */
  judge(request: JudgeRequest, limits: JudgeLimits): Promise<Judgements>;
}

/** In US dollars, at Google's list prices. */
export interface JudgePrice {
  likelyUsd: number;
  /** An upper bound: size of the prompt and length of the answer are bounded. */
  maxUsd: number;
}

export interface JudgeLimits {
  signal: AbortSignal;
  /** On the monotonic clock; no request is sent after it. */
  deadline: number;
}

export interface Judgements {
  evidence: Evidence[];
  /** False if claims are left that were not asked about. */
  isComplete: boolean;
}

export interface JudgeRequest {
  taskId: string;
  source: number;
  page: PageText;
  claims: OpenClaim[];
}

/** A claim that the comparison of texts did not confirm. */
export interface OpenClaim extends Claim {
  /** The passages of the page that are nearest to it, best first. */
  passages: readonly string[];
}
