/** Answers as text: the same information as the structured form, for people and for clients that show text only. */

export interface SearchText {
  report: string;
  metadata: {
    sources_visited: string[];
    search_queries_used: string[];
    /** Markdown links, each with its query as text. */
    search_suggestions?: string[] | undefined;
  };
  /** Further sections, between the lists and the figures. */
  sections?: string[];
  /** Figures that belong to the answer rather than to its metadata. */
  figures?: Record<string, unknown>;
}

/** A report with its sources and figures, for clients that show only the text. */
export function searchText({ report, metadata, sections = [], figures = {} }: SearchText): string {
  const { sources_visited, search_queries_used, search_suggestions: suggestions = [], ...rest } = metadata;
  // A query that is also a suggestion is listed once.
  const suggested = (query: string): boolean => suggestions.some((link) => link.startsWith(`[${query}](`));
  return [
    report.trim(),
    ...list(
      "Sources visited",
      sources_visited.map((url, index) => `${index + 1}. ${url}`),
    ),
    ...list(
      "Search queries used",
      search_queries_used.filter((query) => !suggested(query)).map((query) => `- ${query}`),
    ),
    ...list(
      "Google Search Suggestions",
      suggestions.map((link) => `- ${link}`),
    ),
    ...sections,
    factLines({ ...figures, ...rest }),
  ].join("\n\n");
}

export const noteSection = (note: string | undefined): string[] => (note === undefined ? [] : [`Note: ${note}`]);

export const list = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.join("\n")}`];

/** `name: value`, one per line; a value of several lines starts on a new line. */
export const factLines = (facts: Record<string, unknown>): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
    })
    .join("\n");
