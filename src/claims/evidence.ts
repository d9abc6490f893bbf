/** What was found out about a claim and one of its sources, and how. */

/** In every list, what a reader should see first. */
export const VERDICTS = [
  "conflict",
  "gone",
  "not_found",
  "unreadable",
  "unreachable",
  "not_checked",
  "likely",
  "confirmed",
] as const;

/**
 * - `confirmed`: the page says it literally.
 * - `likely`: the page says nearly this, by the comparison of texts or in the opinion of a model.
 * - `conflict`: a near sentence of the page is about the same thing and has another figure, date, name or direction.
 * - `not_found`: neither. The page may still say it in other words.
 */
export type Verdict = (typeof VERDICTS)[number];

export const bySeverity = (one: { verdict: Verdict }, other: { verdict: Verdict }): number =>
  VERDICTS.indexOf(one.verdict) - VERDICTS.indexOf(other.verdict);

/**
 * - `read`: Gemini opened the page in a verification call and quoted a passage.
 * - `page`: this program fetched the page and compared its text with the claim.
 */
export const EVIDENCE_KINDS = ["read", "page"] as const;
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
  /** The passage of the page that is closest to the claim; text from the web. */
  passage?: string | undefined;
  /** In a conflict: what the passage says in the place of the claim's figure, date, name or direction. */
  pageSays?: string | undefined;
  /** How likely the page says this, from 0 to 1: a calibrated score of the comparison, or a judge's. */
  probability?: number | undefined;
  /** Whether a model judged the passage (`VERIFY_JUDGE`). */
  judged?: boolean | undefined;
}

/** Verdicts in words for people, the same on every surface. */
export const verdictLabel = (verdict: Verdict): string => verdict.replace("_", " ");

/** Of a conflict: what the page says in the place of the claim's figure, date, name or direction. */
export const saysInstead = (says: string | undefined): string | undefined =>
  says === undefined ? undefined : `The page says “${says}”.`;

/** Added to what says that a deep search was verified: its own rounds did not read the pages as a check does. */
export const laterConflicts = (count = 0): string =>
  count === 0 ? "" : `; a later check found ${count} ${count === 1 ? "conflict" : "conflicts"}`;

/** What a verdict means, as a sentence. */
export const VERDICT_MEANINGS: Record<Verdict, string> = {
  confirmed: "The page says this, in the same words.",
  likely: "The page says nearly this.",
  conflict: "The page says something else.",
  not_found: "No passage that says this was found. The page may still say it in other words.",
  unreadable: "The page could not be read.",
  gone: "The page no longer exists.",
  unreachable: "The site did not answer.",
  not_checked: "The page was not checked.",
};

// A claim: one sentence of a report, with the text it depends on and the sources it cites.

/** Of a claim; real ones are shorter. */
export const MAX_CLAIM_CHARACTERS = 1_500;

/** Between the cells of a table's row that are one claim: `Price: 5 EUR | Noise: 40 dB`. */
export const CELL_SEPARATOR = " | ";

/** A longer label is the introduction of a list, and the same for all of its items. */
const MAX_LABEL_CHARACTERS = 40;

/** The sentence with the heads of its row or the label of its list item, as a reader understands it alone. */
export const displayedClaim = ({ context, text }: Pick<Claim, "text" | "context">): string =>
  [...context.filter(({ length }) => length <= MAX_LABEL_CHARACTERS), text].join(": ");

/** Without a second word or a figure there is nothing to compare: "Yes" or "Approved" is on every page. */
export const isCheckable = ({ text }: Pick<Claim, "text">): boolean =>
  /[\p{L}\p{N}][\s,'’-]+[\p{L}\p{N}]|\d|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{4}/u.test(
    text,
  );

/** Those of sections that cite nothing: in others a mark stands for the sentences around it, too. */
export function uncitedClaims(claims: readonly Claim[]): Set<Claim> {
  const sections = [...Map.groupBy(claims, ({ headings }) => headings.join("\n")).values()];
  return new Set(sections.filter((section) => section.every(({ sources }) => sources.length === 0)).flat());
}

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
