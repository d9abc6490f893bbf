/** The type of one case in the corpus of malformed model answers. */

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
  /** `null` if the output must be rejected, because any answer would be invented. */
  expected: ExpectedAnswer | null;
  /** A second acceptable reading of the report that loses nothing. */
  alsoFaithful?: string;
  why?: string;
}

/** Outputs are raw template literals, which cannot contain three backticks. */
export const FENCE = "```";
export const BACKTICK = "`";
