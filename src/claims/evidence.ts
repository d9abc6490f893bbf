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

/** Verdicts in words for people, the same on every surface. */
export const VERDICT_LABELS: Record<Verdict, string> = {
  supported: "confirmed",
  weak: "partly confirmed",
  contradicted: "contradicted",
  unsupported: "not on the page",
  not_confirmed: "not found",
  unreadable: "unreadable",
  gone: "gone",
  unreachable: "unreachable",
  not_checked: "not checked",
};

/** What a verdict means, as a sentence. */
export const VERDICT_MEANINGS: Record<Verdict, string> = {
  supported: "A passage of the page says this.",
  weak: "A passage of the page says a part of this, or a weaker version.",
  contradicted: "A model read the page: it says something else.",
  unsupported: "A model read the page: it does not say this.",
  not_confirmed: "No passage with the same words and figures was found. The page may still say it in other words.",
  unreadable: "The page could not be read.",
  gone: "The page no longer exists.",
  unreachable: "The site did not answer.",
  not_checked: "The page was not checked.",
};

// A claim: one sentence of a report, with the text it depends on and the sources it cites.

/** What is compared of a claim; real ones are shorter. */
export const MAX_CLAIM_CHARACTERS = 1_500;

export interface Claim {
  /** Position among the claims of the report, from 1. */
  n: number;
  /** The sentence as plain text: without citation marks, links and emphasis. */
  text: string;
  /** The headings above it, outermost first. */
  headings: string[];
  /** Heads of the table row and column, or labels of the list item, without which the sentence has no subject. */
  context: string[];
  /** Range in the stored report, in UTF-16 units, without the marks that follow the sentence. */
  start: number;
  end: number;
  /** Numbers of the sources that the sentence cites, in order of appearance; empty if it cites none. */
  sources: number[];
  /**
   * Sources that Google's own supports or annotations attach to this sentence; a subset of `sources`. A number in the
   * text alone (`[1]`, `[cite: 1]`) is the model's statement, not Google's.
   */
  googleSources: number[];
}
