/** What one case of the corpus of malformed model answers is made of. */

export interface ExpectedAnswer {
  success: boolean;
  verified?: boolean;
  report?: string;
  sources_visited: string[];
  search_queries_used: string[];
}

export interface CorpusCase {
  id: string;
  family: string;
  schema: "search" | "deep_search";
  output: string;
  /** `null`: accepting anything here would be inventing. */
  expected: ExpectedAnswer | null;
  /** A second reading of the report that loses nothing, where the fault allows two. */
  alsoFaithful?: string;
  why?: string;
}

/** Outputs are raw templates, in which three backticks cannot be written. */
export const FENCE = "```";
export const BACKTICK = "`";
