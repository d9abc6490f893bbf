/** A stored run as a Markdown document, by a template in code: no model, no template files, every value escaped. */

import { cleanText } from "../platform/clean-text.ts";
import { isoTime } from "../platform/clock.ts";
import { neutralMarkdown } from "./neutral-markdown.ts";
import { isRedirect, type Source } from "./report.ts";

export interface ReportMetadata {
  taskId: string;
  kind: string;
  status: string;
  mode: string | undefined;
  model: string | undefined;
  startedAt: number;
  completedAt: number | undefined;
  tokens: { input: number; output: number };
  costUsd: number | undefined;
  usageFinal: boolean;
  verified: boolean | undefined;
  note: string | undefined;
  savedAt: number;
}

export interface ReportDocument {
  query: string;
  report: string;
  /** Numbered as the report cites them. */
  sources: readonly Source[];
  /** How the run ended, where it ended before the report was complete. */
  partial: string | undefined;
  /** Undefined leaves every line of it out. */
  metadata: ReportMetadata | undefined;
  includeSources: boolean;
}

/** The mark of a partial report is the first line, which is why there is no front matter before it. */
export function renderMarkdown(document: ReportDocument): string {
  const { query, sources, partial, metadata, includeSources } = document;
  const { title, body } = splitTitle(neutralMarkdown(withoutOwnList(cleanText(document.report), sources)));
  const sections = [
    ...(partial === undefined
      ? []
      : [`> **PARTIAL**: this run ended as ${plain(partial)} before its report was complete.`]),
    `# ${title ?? titleOf(query)}`,
    ...(metadata === undefined ? [] : [metadataLines(metadata, { query, sources: sources.length })]),
    body,
    ...(includeSources && sources.length > 0 ? ["## Sources", sources.map(sourceLine).join("\n")] : []),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** A report that opens with a title of its own keeps it: a document has one. */
function splitTitle(report: string): { title: string | undefined; body: string } {
  const text = trimLines(report);
  const [first = "", second = ""] = text.split("\n", 2);
  const rest = (lines: string[]): string => trimLines(text.slice(lines.join("\n").length));
  if (/^ {0,3}#(?:[ \t]|$)/.test(first)) return { title: headingText(first), body: rest([first]) };
  if (/^\p{L}/u.test(first) && /^ {0,3}=+[ \t]*$/.test(second)) {
    return { title: first.trim(), body: rest([first, second]) };
  }
  return { title: undefined, body: text };
}

/** Without the closing marks a heading may have; patterns would take quadratic time on a line of nothing else. */
function headingText(line: string): string | undefined {
  const text = line.trim().slice(1).trim();
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  const hasClosing = end < text.length && (end === 0 || /[ \t]/.test(text[end - 1] ?? ""));
  return (hasClosing ? text.slice(0, end).trim() : text) || undefined;
}

/** Empty lines at both ends; the first line's indentation means something. */
const trimLines = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();

const LONGEST_TITLE = 120;

function titleOf(query: string): string {
  const text = oneLine(query);
  if (text === "") return "Research report";
  const characters = Array.from(text);
  if (characters.length <= LONGEST_TITLE) return plain(text);
  const cut = characters.slice(0, LONGEST_TITLE).join("");
  const lastGap = cut.lastIndexOf(" ");
  return `${plain(lastGap > LONGEST_TITLE / 2 ? cut.slice(0, lastGap) : cut)}…`;
}

function metadataLines(about: ReportMetadata, { query, sources }: { query: string; sources: number }): string {
  const ended = about.completedAt ?? about.savedAt;
  const facts: Record<string, string | undefined> = {
    Query: plain(query),
    "Task ID": plain(about.taskId),
    Tool: plain(about.kind),
    Status: plain(about.status),
    Mode: about.mode === undefined ? undefined : plain(about.mode),
    Model: about.model === undefined ? undefined : plain(about.model),
    Verified: about.verified === undefined ? undefined : about.verified ? "yes" : "no",
    Note: about.note === undefined ? undefined : plain(about.note),
    Started: isoTime(about.startedAt),
    Completed: about.completedAt === undefined ? undefined : isoTime(about.completedAt),
    Duration: `${(Math.max(0, ended - about.startedAt) / 60_000).toFixed(1)} minutes`,
    Tokens: `${about.tokens.input.toLocaleString("en-US")} in, ${about.tokens.output.toLocaleString("en-US")} out`,
    Cost: costText(about),
    Sources: String(sources),
    Saved: isoTime(about.savedAt),
  };
  return Object.entries(facts)
    .flatMap(([name, value]) => (value === undefined ? [] : [`- **${name}:** ${value}`]))
    .join("\n");
}

function costText({ costUsd, usageFinal }: ReportMetadata): string | undefined {
  if (costUsd === undefined) return undefined;
  return `\\$${costUsd.toFixed(4)} at list prices${usageFinal ? "" : ", not final"}`;
}

/** The number is text: a list would count for itself, and citations may leave numbers out. */
function sourceLine({ n, title, url, resolved_url: resolved, domain }: Source): string {
  const label = plain(title) || plain(domain) || "Source";
  const site = plain(domain);
  if (resolved !== undefined) {
    const redirect = resolved === url ? "" : `, ${linked("redirect link", url)}`;
    return `- \\[${n}\\] ${linked(label, resolved)} (${site}${redirect})`;
  }
  return `- \\[${n}\\] ${linked(label, url)} (${site}${isRedirect(url) ? ", redirect link" : ""})`;
}

function linked(label: string, url: string): string {
  const address = cleanText(url).trim();
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return `${label}: ${plain(url)}`;
  return `[${label}](${address.replaceAll(/[\s<>()\\`"']/g, encoded)})`;
}

/** Also those that encodeURIComponent leaves as they are. */
const encoded = (character: string): string =>
  /['()]/.test(character) ? `%${character.charCodeAt(0).toString(16)}` : encodeURIComponent(character);

const oneLine = (text: string): string => cleanText(text).replaceAll(/\s+/g, " ").trim();

/** Foreign text as text: on one line, and none of it read as Markdown or HTML. */
const plain = (text: string): string =>
  oneLine(text)
    .replaceAll(/[\\`*_[\]<>|~$#!]/g, String.raw`\$&`)
    .replaceAll(/&(?=\w)/g, "&amp;");

const LISTED_SOURCE = /^[ \t]*\d{1,4}\.[ \t]+\[[^\]\n]*\]\(([^)\s]+)\)[ \t]*$/;
const LIST_TITLE = /^[#*_ \t]*(?:sources|references|works cited|quellen|bibliography)[:*_ \t]*$/i;

/** The agent ends its reports with a list of its sources, which ours repeats with titles and numbers. */
function withoutOwnList(report: string, sources: readonly Source[]): string {
  const known = new Set(sources.map(({ url }) => url));
  const lines = report.trimEnd().split("\n");
  const isEntry = (line: string): boolean => known.has(LISTED_SOURCE.exec(line)?.[1] ?? "");
  let end = lines.length;
  while (end > 0 && (isEntry(lines[end - 1] ?? "") || (end < lines.length && lines[end - 1]?.trim() === ""))) end -= 1;
  if (end === lines.length) return report;
  if (LIST_TITLE.test(lines[end - 1] ?? "")) end -= 1;
  return lines.slice(0, end).join("\n");
}
