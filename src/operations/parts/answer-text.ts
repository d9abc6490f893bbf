/** Answers as text: the same information as the structured form, for people and for clients that show text only. */

import { z } from "zod";
import { type Verification, verificationLine } from "../../reports/verification.ts";
import { describePicture, insertionLines, locatePictures, pictureAlt } from "../../reports/pictures/positions.ts";
import { lazy } from "../../platform/lazy.ts";
import { createRecent } from "../../platform/recent.ts";
import type { StoredResult } from "../../runs/run.ts";
import type { Source } from "../../reports/report.ts";
import type { OutlineEntry } from "../../reports/sections.ts";
import { type Table, tableText } from "../../reports/table/table.ts";
import type { Conversation } from "../followup/conversation.ts";
import { materialTexts, type SentMaterial } from "../view/sent-material.ts";
import type { PictureLink } from "../operation.ts";

interface UsageFigures {
  duration_ms: number;
  model: string;
  timestamp: string;
  tokens_used: { input: number; output: number };
  cost_usd?: number | undefined;
}

interface SearchText {
  /** The verdict and the note, before the report: a client that cuts an answer cuts its end. */
  lead: string[];
  report: string;
  metadata: {
    sources_cited: { n: number; title: string; site: string }[];
    sources_visited: string[];
    sources_left_out?: number | undefined;
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
}

/**
 * A report with its sources and figures, for clients that show only the text. Some show a person only its last three
 * lines, so one line of figures comes last.
 */
export function searchText({ lead, report, metadata, sections = [] }: SearchText): string {
  const { sources_cited, sources_visited, sources_left_out: left, ...listed } = metadata;
  const { links_expire: expires, search_queries_used, ...others } = listed;
  const cited = new Map(sources_cited.map((source) => [source.n, source]));
  const { search_suggestions: suggestions = [], ...facts } = others;
  const { task_id, duration_ms, model, timestamp, tokens_used, cost_usd, wishes, ...rest } = facts;
  const usage = { duration_ms, model, timestamp, tokens_used, cost_usd };
  // A query that is also a suggestion is listed once.
  const suggested = (query: string): boolean => suggestions.some((link) => link.startsWith(`[${query}](`));
  return [
    // Before the report, of which a client may cut the end.
    factLines({ task_id }),
    ...lead,
    report.trim(),
    ...list(expires === undefined ? "Sources" : `Sources (links expire ${expires})`, [
      ...sources_visited.map((url, index) => `${index + 1}. ${namedAddress(url, cited.get(index + 1))}`),
      ...(left === undefined ? [] : [`(and ${left} more that the report does not cite)`]),
    ]),
    ...list(
      "Search queries used",
      search_queries_used.filter((query) => !suggested(query)).map((query) => `- ${query}`),
    ),
    ...suggestionList(suggestions),
    ...sections,
    [factLines({ ...rest, wishes: wishes?.note }), usageLine(usage)].filter((line) => line !== "").join("\n"),
  ].join("\n\n");
}

const namedAddress = (url: string, cited: { title: string; site: string } | undefined): string => {
  if (cited === undefined) return url;
  const { title, site } = cited;
  return `${title === site ? title : `${title} (${site})`}: ${url}`;
};

/** What an answer says about its report, as its first paragraph; nothing where nothing is said. */
export function verdictLines(verdict: Record<string, unknown>): string[] {
  const lines = factLines(verdict);
  return lines === "" ? [] : [lines];
}

interface ReportText {
  report?: string | undefined;
  /** Instead of the report. */
  table?: Table | undefined;
  plan?: string | undefined;
  outline?: readonly OutlineEntry[] | undefined;
  pictures?: readonly PictureLink[] | undefined;
  sources?: readonly Source[] | undefined;
  search_suggestions?: readonly string[] | undefined;
  conversation?: Conversation;
  material?: SentMaterial;
  /** What cited pages contradict, as lines. */
  conflicts?: string[];
}

/**
 * A stored report, or a plan, with its lists. What a person must see is the end of `facts`, for the same reason; what a
 * model must know before the report is in `lead`.
 */
export function reportText(
  shown: ReportText,
  facts: Record<string, unknown>,
  lead: Record<string, unknown> = {},
): string {
  const { report, table, plan, outline = [], pictures = [], sources = [], conversation = {} } = shown;
  const { context, follow_up_of: parent, follow_ups: followUps = [] } = conversation;
  const text = table === undefined ? report?.trim() : tableText(table);
  return [
    ...verdictLines(lead),
    ...list("In conflict with cited pages", shown.conflicts ?? []),
    ...[text, plan].filter((part) => part !== undefined),
    ...list(
      "Outline",
      outline.map(({ section, title, characters }) => `${section} ${title} (${characters} characters)`),
    ),
    ...list(
      "Pictures",
      pictures.map(({ n, about, uri }) => `${n}. ${about}: ${uri}`),
    ),
    ...list("Sources", sources.map(sourceLine)),
    ...suggestionList(shown.search_suggestions),
    ...(parent === undefined ? [] : [`Follow-up to ${parent.task_id} (context: ${context}): ${parent.query}`]),
    ...list(
      "Follow-ups",
      followUps.map(({ task_id, query, status }) => `${task_id} (${status}): ${query}`),
    ),
    ...list("Sent with the question", materialTexts(shown.material)),
    factLines(facts),
  ].join("\n\n");
}

const suggestionList = (suggestions: readonly string[] = []): string[] =>
  list(
    "Google Search Suggestions",
    suggestions.map((link) => `- ${link}`),
  );

/** Google often gives the domain as the title. */
export const sourceLine = ({ n, title, domain, url, resolved_url, link_expires: expires }: Source): string => {
  const until = expires === undefined ? "" : `, link expires ${expires}`;
  return `${n}. ${title === domain ? title : `${title} (${domain})`}${until}: ${resolved_url ?? url}`;
};

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

/** URI of a picture as an MCP resource. */
export const pictureUri = (taskId: string, n: number | string): string => `research://runs/${taskId}/pictures/${n}`;

export const pictureField = z.array(z.looseObject({})).optional();
export const suggestionsField = z.array(z.string()).optional();

export const pictureLinks = (taskId: string, { pictures = [] }: StoredResult): PictureLink[] =>
  pictures.map((picture) => ({
    n: picture.n,
    uri: pictureUri(taskId, picture.n),
    mime_type: picture.mimeType,
    bytes: picture.byteLength,
    about: describePicture(picture),
  }));

/** The pictures that this part of a report links to; undefined without any. */
export function picturesIn(links: readonly PictureLink[], report: string | undefined): PictureLink[] | undefined {
  const shown = links.filter(({ uri }) => report?.includes(`(${uri})`) === true);
  return shown.length === 0 ? undefined : shown;
}

/** Inserts a link at the position of each picture in the report and moves the citations. */
export function withPictureLinks(taskId: string, result: StoredResult): StoredResult {
  const { report, pictures = [], citations = [] } = result;
  if (pictures.length === 0) return result;
  const lines = report.split("\n");
  const at = insertionLines(report, locatePictures(report, pictures));
  const written: string[] = [];
  const moves: { from: number; by: number }[] = [];
  let from = 0;
  for (const [index, line] of [...lines, undefined].entries()) {
    for (const n of at.get(index) ?? []) {
      const link = ["", `![${pictureAlt(n)}](${pictureUri(taskId, n)})`, ""];
      written.push(...link);
      moves.push({ from, by: `${link.join("\n")}\n`.length });
    }
    if (line === undefined) break;
    written.push(line);
    from += line.length + 1;
  }
  const moved = (position: number): number =>
    moves.reduce((to, move) => (move.from <= position ? to + move.by : to), position);
  return {
    ...result,
    report: written.join("\n"),
    citations: citations.map(({ n, start, end }) => ({ n, start: moved(start), end: moved(start) + end - start })),
  };
}

/** Answers contain the first ones only; the page and HTML files show all. */
const MAX_SUGGESTIONS = 5;

/** Each is some kilobytes of HTML. */
const MAX_KEPT_CHARACTERS = 500_000;
const recentLinks = createRecent<string[]>(MAX_KEPT_CHARACTERS);

const chips = lazy(() => import("../../reports/suggestions/chips.ts"));

/** The suggestions as Markdown links; Google's terms require showing them with the answer. */
export async function suggestionLinks(received: readonly string[] = []): Promise<string[] | undefined> {
  if (received.length === 0) return undefined;
  // Loaded here, because most processes never read HTML.
  const { readSuggestions, suggestionLink } = await chips();
  const links = recentLinks(received.join("\n"), () =>
    readSuggestions(received).chips.slice(0, MAX_SUGGESTIONS).map(suggestionLink),
  );
  return links.length === 0 ? undefined : links;
}
