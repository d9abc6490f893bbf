/** A claim: one sentence of a report, with the text it depends on and the sources it cites. */

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
