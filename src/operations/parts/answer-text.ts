/** Answers as text: the same information as the structured form, for people and for clients that show text only. */

import { type Verification, verificationLine } from "../../reports/verification.ts";

interface UsageFigures {
  duration_ms: number;
  model: string;
  timestamp: string;
  tokens_used: { input: number; output: number };
  cost_usd?: number | undefined;
}

export interface SearchText {
  report: string;
  metadata: {
    sources_visited: string[];
    /** The last day of redirect links among them. */
    links_expire?: string | undefined;
    search_queries_used: string[];
    /** Markdown links, each with its query as text. */
    search_suggestions?: string[] | undefined;
    task_id: string;
    wishes?: { note: string } | undefined;
  } & UsageFigures;
  /** Further sections, between the lists and the figures. */
  sections?: string[];
  /** Figures that belong to the answer rather than to its metadata. */
  figures?: Record<string, unknown>;
}

/**
 * A report with its sources and figures, for clients that show only the text. Some show a person only its last three
 * lines, so the run, the verdict and one line of figures come last.
 */
export function searchText({ report, metadata, sections = [], figures = {} }: SearchText): string {
  const { sources_visited, links_expire: expires, search_queries_used, ...others } = metadata;
  const { search_suggestions: suggestions = [], ...facts } = others;
  const { task_id, duration_ms, model, timestamp, tokens_used, cost_usd, wishes, ...rest } = facts;
  const usage = { duration_ms, model, timestamp, tokens_used, cost_usd };
  // A query that is also a suggestion is listed once.
  const suggested = (query: string): boolean => suggestions.some((link) => link.startsWith(`[${query}](`));
  return [
    report.trim(),
    ...list(
      expires === undefined ? "Sources visited" : `Sources visited (links expire ${expires})`,
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
    [factLines({ ...rest, wishes: wishes?.note, task_id, ...figures }), usageLine(usage)].join("\n"),
  ].join("\n\n");
}

function usageLine({ duration_ms, model, timestamp, tokens_used, cost_usd }: UsageFigures): string {
  const tokens = `${tokens_used.input} tokens in, ${tokens_used.output} out`;
  const cost = cost_usd === undefined ? [] : [`$${cost_usd}`];
  return [`${duration_ms} ms`, tokens, ...cost, model, timestamp].join(" · ");
}

export const noteSection = (note: string | undefined): string[] => (note === undefined ? [] : [`Note: ${note}`]);

/** With the method, because a client may show its model only the text. */
export const verificationText = (verification: Verification | undefined): string | undefined =>
  verification === undefined ? undefined : `${verificationLine(verification)} (method: ${verification.method})`;

/** One text of all notes; undefined if there are none. */
export function joinNotes(notes: readonly (string | undefined)[]): string | undefined {
  const known = notes.filter((note) => note !== undefined);
  return known.length === 0 ? undefined : known.join(" ");
}

export const list = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.join("\n")}`];

/** `{ input: 5, output: 7 }` as `input 5, output 7`. */
const wordsOf = (figures: object): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

const isFlat = (value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((part) => typeof part === "number" || typeof part === "boolean");

/** `name: value`, one per line; a value of several lines starts on a new line. */
export const factLines = (facts: Record<string, unknown>): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : isFlat(value) ? wordsOf(value) : JSON.stringify(value);
      return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`;
    })
    .join("\n");
