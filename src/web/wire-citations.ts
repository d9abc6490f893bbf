/** The contract of the checks of citations, between dashboard and server. */

import type { Verdict } from "../claims/evidence.ts";
import type { ConsentQuestion } from "./prices.ts";

/** A verdict about a claim and one of its sources; the labels are in claims/evidence.ts. */
export interface CitedPairView {
  /** Number of the source. */
  source: number;
  verdict: Verdict;
  /** How it was found: `page` was fetched here, `read` by Gemini; absent if it was not checked. */
  kind?: "page" | "read" | undefined;
  reason?: string | undefined;
  /** Text from the web. */
  passage?: string | undefined;
  /** A model judged it. */
  judged?: boolean | undefined;
  /** Google's annotations attach the source to the claim. */
  by_google?: boolean | undefined;
  checked_at?: string | undefined;
}

export interface ClaimView {
  n: number;
  text: string;
  verdict: Verdict;
  pairs: CitedPairView[];
}

export interface CheckedSource {
  n: number;
  is_cited: boolean;
  /** The day on which Google's link to the page expires. */
  link_expires?: string | undefined;
  outcome?: "text" | "unreadable" | "gone" | "unreachable" | "not_checked" | undefined;
  reason?: string | undefined;
  checked_at?: string | undefined;
  http_status?: number | undefined;
  published?: string | undefined;
  author?: string | undefined;
  /** Of fetching this page again. */
  judge?: JudgePrice | undefined;
}

/** What the model that judges unconfirmed claims may cost. */
export interface JudgePrice {
  model: string;
  /** The most claims that it can be asked about. */
  pairs: number;
  /** Both undefined without a price of the model; the second is an upper bound. */
  likely_usd: number | undefined;
  max_usd: number | undefined;
  /** What the user must confirm, if it is above the limit. */
  question?: ConsentQuestion | undefined;
}

/**
 * `GET /api/runs/:id/citations`: what is known about the citations of a report, without a request to any site.
 * `POST` with `{numbers?, refetch?, agreed?}` fetches the pages of these sources first, within limits; `agreed` is the
 * subject of the question, if the user has confirmed the cost of the judge.
 */
export interface CitationsView {
  counts: { claims: number; uncited: number } & Partial<Record<Verdict, number>>;
  independent_domains: number;
  /** Groups of sources with the same text. */
  copies: number[][];
  sources: CheckedSource[];
  /** Those that cite a source. */
  claims: ClaimView[];
  /** Of checking everything that is due; undefined without a judge. */
  judge?: JudgePrice | undefined;
}
