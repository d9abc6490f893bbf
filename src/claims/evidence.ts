/** What was found out about a claim and one of its sources, and how. */

export const VERDICTS = [
  "supported",
  "weak",
  "contradicted",
  "unsupported",
  "not_confirmed",
  "unreadable",
  "gone",
  "unreachable",
  "not_checked",
] as const;

/**
 * `contradicted` and `unsupported` are returned only by a model that read the page (`read`, or `page` with a judge): a
 * comparison of texts that finds nothing is `not_confirmed`.
 */
export type Verdict = (typeof VERDICTS)[number];

/**
 * - `google`: Google's supports or annotations attach the sentence to the source.
 * - `read`: Gemini opened the page in a verification call and quoted a passage that agrees with the claim.
 * - `page`: this program fetched the page and compared its text with the claim.
 */
export const EVIDENCE_KINDS = ["google", "read", "page"] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

export interface Evidence {
  /** `n` of the claim. */
  claim: number;
  /** Number of the source. */
  source: number;
  kind: EvidenceKind;
  verdict: Verdict;
  /** Why a claim is not confirmed, or which wall makes a page unreadable; a sentence of this program. */
  reason?: string | undefined;
  /** The passage of the page that decided; text from the web. */
  passage?: string | undefined;
  /** Whether a model judged the passage (`VERIFY_JUDGE`). */
  judged?: boolean | undefined;
}
