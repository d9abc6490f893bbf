/** Renders a report for people: the answer first, then its sources, one line of figures and the next command. */

import { type Document, numberedDocument } from "../../../reports/document/document.ts";
import { citedNumbers, numberedMarkdown } from "../../../reports/document/numbered.ts";
import { pageKey } from "../../../reports/web-address.ts";
import { onOneLine } from "../../../reports/report-facts.ts";
import { isRedirect, type Source } from "../../../reports/report.ts";
import { type AnswerSpace, nextCommands, shortId } from "../answer-view.ts";
import { formatCost, formatDuration } from "../durations.ts";
import { reportLines, sourceUrl } from "../markdown/report.ts";
import type { Space } from "../words.ts";
import type { Style } from "../paint.ts";
import { cutToWidth, widthOf } from "../text-width.ts";

export interface ShownReport {
  taskId: string;
  /** Undefined when only an outline or a list was asked for. */
  text: Document | undefined;
  /** Lines before the text, which change how it is read. */
  warnings?: readonly string[];
  /** What the report continues, above the text. */
  continues?: string | undefined;
  /** Lines of the document other than its text. */
  parts?: readonly string[];
  /** Undefined: not asked for. */
  sources: readonly Source[] | undefined;
  /** Markdown links. */
  suggestions?: readonly string[] | undefined;
  remarks: readonly Remark[];
  figures: Figures;
  next: readonly (readonly [purpose: string, command: string])[];
}

export interface Remark {
  text: string;
  style: Style;
}

interface Figures {
  durationMs: number;
  tokens?: { input: number; output: number } | undefined;
  cost_usd?: number | undefined;
  cost_incomplete?: boolean | undefined;
  cost_estimated?: boolean | undefined;
  model?: string | undefined;
}

export function reportView(shown: ShownReport, space: AnswerSpace): string {
  const { width } = space;
  return width === undefined ? pipedReport(shown) : terminalReport(shown, { ...space, width });
}

function terminalReport(shown: ShownReport, space: AnswerSpace & Space): string {
  const { paint } = space;
  const wrapped = (text: string): string => reportLines(numberedDocument(text, []), space).join("\n");
  const { warnings = [], parts = [], remarks } = shown;
  return sections([
    ...warnings.map((warning) => paint("careful", warning)),
    shown.continues === undefined ? "" : paint("faint", cutToWidth(shown.continues, space.width)),
    shown.text === undefined ? "" : reportLines(shown.text, space).join("\n"),
    ...parts,
    sourceLines(shown, space),
    suggestionLine(shown.suggestions, wrapped),
    remarks.map(({ text, style }) => paint(style, text)).join("\n"),
    [paint("faint", fittingSummary(shown, space.width)), nextCommands(shown.next, space)]
      .filter((part) => part !== "")
      .join("\n"),
  ]);
}

/** Only an MCP client can follow it. */
const PICTURE_LINK = /!\[(Picture \d+)\]\(research:\/\/[^)\s]+\)/g;

/** The report's own Markdown, for files and other programs. */
function pipedReport(shown: ShownReport): string {
  const { warnings = [], parts = [], remarks, suggestions = [] } = shown;
  const listed = groupPages(shown).map(
    ({ numbers, source }) =>
      `${numbers.join(", ")}. ${named(source)}${expiryOf(source, ", ")}: ${sourceUrl(source) ?? source.url}`,
  );
  return sections([
    ...warnings,
    shown.continues ?? "",
    shown.text === undefined ? "" : numberedMarkdown(shown.text).replaceAll(PICTURE_LINK, "*$1*").trim(),
    ...parts,
    listed.length === 0 ? "" : `Sources:\n${listed.join("\n")}`,
    suggestions.length === 0 ? "" : `Google Search Suggestions:\n${suggestions.map(pipedSuggestion).join("\n")}`,
    remarks.map(({ text }) => text).join("\n"),
    summaryLine(shown, shown.taskId),
  ]);
}

const sections = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");

/** Without the model where the line would be too long. */
function fittingSummary(shown: ShownReport, width: number): string {
  const id = shortId(shown.taskId);
  const whole = summaryLine(shown, id);
  return whole.length <= width ? whole : summaryLine({ ...shown, figures: { ...shown.figures, model: undefined } }, id);
}

/** `12 s · 1,006 tokens · $0.01 · gemini-3.8-flash · run 33d177c4`. */
function summaryLine({ figures }: ShownReport, id: string): string {
  const { durationMs, tokens, cost_usd, model } = figures;
  const count = (tokens?.input ?? 0) + (tokens?.output ?? 0);
  return [
    formatDuration(durationMs),
    ...(count === 0 ? [] : [`${count.toLocaleString("en-US")} tokens`]),
    ...(cost_usd === undefined ? [] : [formatCost(figures)]),
    ...(model === undefined ? [] : [model]),
    `run ${id}`,
  ].join(" · ");
}

interface ListedPage {
  /** All numbers under which the text cites the page. */
  numbers: number[];
  source: Source;
}

/** Each page once: a redirect link and the address it leads to are one page. */
function groupPages({ sources = [], text }: Pick<ShownReport, "sources" | "text">): ListedPage[] {
  const pages = new Map<string, ListedPage>();
  const cited = text === undefined ? new Set<number>() : citedNumbers(text);
  for (const source of sources) {
    if (!cited.has(source.n) && isSpare(source, sources)) continue;
    const key = pageKey(sourceUrl(source) ?? source.url);
    const known = pages.get(key);
    if (known === undefined) pages.set(key, { numbers: [source.n], source });
    else known.numbers.push(source.n);
  }
  return [...pages.values()];
}

/** A link of Google's that names nothing but a domain, beside a page of that domain whose address is known. */
const isSpare = ({ title, domain, url, resolved_url }: Source, sources: readonly Source[]): boolean =>
  resolved_url === undefined &&
  isRedirect(url) &&
  title === domain &&
  sources.some((other) => other.domain === domain && !isRedirect(other.url));

const expiryOf = ({ link_expires: day }: Source, before: string): string =>
  day === undefined ? "" : `${before}link expires ${day}`;

const named = (source: Source): string => {
  const { label, site } = labelOf(source);
  return site === "" ? label : `${label} (${site})`;
};

/** A link of Google's without a title hides where it leads. */
function labelOf({ url, ...source }: Source): { label: string; site: string } {
  const [title, domain] = [onOneLine(source.title), onOneLine(source.domain)];
  const known = isRedirect(url) && domain.endsWith("google.com") ? "" : domain;
  const isTitled = title !== "" && title !== domain;
  return { label: isTitled ? title : known || "Untitled page", site: isTitled ? known : "" };
}

/** One line per page; the URL follows on a line of its own only where links cannot be clicked. */
function sourceLines(shown: ShownReport, space: AnswerSpace & Space): string {
  const pages = groupPages(shown);
  if (pages.length === 0) return "";
  const { paint, link, width } = space;
  const labels = pages.map(({ numbers }) => numbers.join(", "));
  const indent = Math.max(...labels.map((label) => label.length)) + 3;
  const lines = pages.flatMap(({ source }, index) => {
    const label = paint("faint", `${(labels[index] ?? "").padStart(indent - 1)} `);
    const { label: title, site: domain } = labelOf(source);
    const shownTitle = cutToWidth(title, Math.max(10, width - indent));
    const url = sourceUrl(source);
    const linked = link === undefined || url === undefined ? shownTitle : link(url, paint("underline", shownTitle));
    const room = width - indent - widthOf(shownTitle);
    const suffix = `${domain === "" ? "" : ` · ${domain}`}${expiryOf(source, " · ")}`;
    const fitting = [suffix, domain === "" ? "" : ` · ${domain}`].find((text) => widthOf(text) <= room) ?? "";
    const site = fitting === "" ? "" : paint("faint", fitting);
    const written = link === undefined && url !== undefined ? [`${" ".repeat(indent)}${paint("faint", url)}`] : [];
    return [`${label}${linked}${site}`, ...written];
  });
  return [paint("strong", "Sources"), ...lines].join("\n");
}

function suggestionLine(suggestions: readonly string[] = [], wrapped: (text: string) => string): string {
  return suggestions.length === 0 ? "" : wrapped(`Google Search Suggestions: ${suggestions.map(labelled).join(" · ")}`);
}

/** Words and address, as in the list of sources: some come as a Markdown link, others as an address alone. */
function pipedSuggestion(suggestion: string): string {
  const [, query, address] = /^\[(.*)\]\((.*)\)$/.exec(labelled(suggestion)) ?? [];
  return `- ${query === undefined ? suggestion : `${query}: ${address}`}`;
}

/** A suggestion without a label is a search, whose words are in its URL. */
function labelled(suggestion: string): string {
  const query = URL.canParse(suggestion) ? new URL(suggestion).searchParams.get("q") : null;
  return query === null || /[[\]\\`]/.test(query) ? suggestion : `[${query}](${suggestion})`;
}
