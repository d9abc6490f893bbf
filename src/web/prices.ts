/** The contract of prices and of the consent to them, between dashboard and server. */

import type { Subject } from "../operations/question/subject.ts";

/**
 * What the user must confirm. With a yes, the request has the subject as `agreed`. Without it, or if it no longer fits,
 * the error `CONFIRMATION_NEEDED` has the question of the moment in its details.
 */
export interface ConsentQuestion {
  text: string;
  subject: Subject;
}

export interface RefusalDetails extends Record<string, unknown> {
  question?: ConsentQuestion;
}

/**
 * `POST /api/estimate` with the input of the start: `{query, model?, max_wait_hours?, force_new?, plan?, attachments?}`, where
 * `attachments` are the names and sizes of the files that the start will upload.
 */
export interface EstimateView {
  query_complexity: string;
  estimated_duration: { min_minutes: number; max_minutes: number; likely_minutes: number };
  estimated_cost: { min_usd: number; max_usd: number; likely_usd: number };
  recommendation: string;
  /** What the user must confirm before the start; absent if no confirmation is needed. */
  question?: ConsentQuestion | undefined;
  /** The question leaves open what is meant; the user may start it as it is. */
  is_vague: boolean;
}
