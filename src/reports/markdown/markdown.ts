/** Renders a stored run as a Markdown document: escapes every value here, and a template arranges them. */

import { cleanText } from "../../platform/clean-text.ts";
import {
  type CitedRange,
  markAt,
  removeSourceList,
  resolveCitationNumbers,
  withoutStartMarks,
  wouldDefine,
} from "../citations.ts";
import { headingOf } from "../document/lines.ts";
import { neutralMarkdown, type RewriteMark } from "./neutral-markdown.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { describePicture, pictureAlt, locatePictures, withPictures } from "../pictures/positions.ts";
import { onOneLine, type ReportMetadata, reportFacts, titleOf } from "../report-facts.ts";
import { isRedirect, type Source } from "../report.ts";
import { renderTemplate, type TemplateOptions } from "./report-template.ts";

export interface ReportDocument {
  query: string;
  report: string;
  /** Numbered as the report cites them. */
  sources: readonly Source[];
  citations?: readonly CitedRange[] | undefined;
  /** How the run ended, if it ended before the report was complete. */
  partial: string | undefined;
  /** The reason, as one of our own sentences. */
  reason?: string | undefined;
  /** Undefined: the document has no metadata. */
  metadata: ReportMetadata | undefined;
  includeSources: boolean;
  pictures?: readonly PictureFacts[] | undefined;
  /** Returns the URL of a picture; by default the document only mentions it. */
  pictureUrl?: ((picture: PictureFacts) => string) | undefined;
}

/**
 * Uses the built-in template without options. There is no front matter, because the marker of a partial report must be
 * the first line.
 */
export function renderMarkdown(document: ReportDocument, options?: TemplateOptions): string {
  const { query, sources, partial, reason, metadata, includeSources } = document;
  const report = pictured(
    document,
    neutralMarkdown(removeSourceList(withoutStartMarks(document.report), sources), linkMarks(document)),
  );
  const { title, body } = splitTitle(report);
  const because = reason === undefined ? "" : ` ${plain(reason)}`;
  const text = renderTemplate(
    {
      title: title ?? plain(titleOf(query)),
      partial:
        partial === undefined
          ? undefined
          : `this run ended as ${plain(partial)} before its report was complete.${because}`,
      metadata: metadata && metadataFacts(metadata, { query, sources: sources.length }),
      body,
      sources: includeSources ? sources.map(sourceValues) : [],
    },
    options,
  );
  return `${text.trimEnd()}\n`;
}

const DEFINITION = /^ {0,3}\[(\d{1,4})\]:[ \t]*<?https?:\/\/[^\s<>]+>?[^\n]*$/gm;

/** U3: `[cite: 1, 2]` and `[1]` become links to their sources; an unresolved number stays as it is. */
function linkMarks(document: ReportDocument): RewriteMark {
  const { report, sources } = document;
  const marks = new Map(sources.map(({ n, url, resolved_url: resolved }) => [n, markOf(n, resolved ?? url)]));
  const meant = resolveCitationNumbers(document);
  const defined = new Set(report.includes("]:") ? [...report.matchAll(DEFINITION)].map(([, n]) => Number(n)) : []);
  return (line, at) => {
    const mark = markAt(line, at);
    if (mark === undefined || (!mark.isGoogleMark && wouldDefine(line, mark))) return undefined;
    const { end, numbers, isGoogleMark } = mark;
    const known = isGoogleMark ? meant.google : meant.plain;
    const links = numbers.map((n) => (isGoogleMark || !defined.has(n) ? marks.get(known.get(n) ?? -1) : undefined));
    if (links.every((link) => link === undefined)) return undefined;
    return { end, text: links.map((link, index) => link ?? plain(`[${numbers[index]}]`)).join("") };
  };
}

function markOf(n: number, url: string): string {
  const label = plain(`[${n}]`);
  return isLinkable(url) ? linked(label, url) : label;
}

/** Runs after the untrusted text is neutralized, so the only images in a document are the report's own pictures. */
function pictured({ report, pictures = [], pictureUrl }: ReportDocument, text: string): string {
  const byNumber = new Map(pictures.map((picture) => [picture.n, picture]));
  return withPictures(text, locatePictures(report, pictures), (n) => {
    const picture = byNumber.get(n);
    const url = picture === undefined ? undefined : pictureUrl?.(picture);
    if (url !== undefined) return `![${pictureAlt(n)}](${url})`;
    return `*${pictureAlt(n)}${picture === undefined ? "" : ` (${describePicture(picture)})`} is not part of this file.*`;
  });
}

/** Keeps the report's own title as the document's only title. */
function splitTitle(report: string): { title: string | undefined; body: string } {
  const text = trimLines(report);
  const [first = "", second = ""] = text.split("\n", 2);
  const rest = (lines: string[]): string => trimLines(text.slice(lines.join("\n").length));
  const heading = headingOf(first);
  if (heading?.level === 1) return { title: heading.title.trim() || undefined, body: rest([first]) };
  if (/^\p{L}/u.test(first) && /^ {0,3}=+[ \t]*$/.test(second)) {
    return { title: first.trim(), body: rest([first, second]) };
  }
  return { title: undefined, body: text };
}

/** Removes empty lines at both ends, but keeps the first line's indentation, which is significant. */
function trimLines(text: string): string {
  const first = text.search(/[^ \t\n]/);
  return first === -1 ? "" : text.slice(text.lastIndexOf("\n", first) + 1).trimEnd();
}

const metadataFacts = (about: ReportMetadata, of: { query: string; sources: number }) =>
  reportFacts(about, of).map(([name, value]) => ({ name, value: plain(value) }));

/** The number is written as text: a Markdown list would renumber, and citations may skip numbers. */
function sourceValues({ n, title, url, resolved_url: resolved, domain }: Source) {
  const label = plain(title) || plain(domain) || "Source";
  const redirect = resolved === undefined || resolved === url ? "" : `, ${linked("redirect link", url)}`;
  const unresolved = resolved === undefined && isRedirect(url) ? ", redirect link" : "";
  return {
    n,
    title: label,
    link: linked(label, resolved ?? url),
    url: plain(resolved ?? url),
    site: `${plain(domain)}${redirect}${unresolved}`,
  };
}

function linked(label: string, url: string): string {
  if (!isLinkable(url)) return `${label}: ${plain(url)}`;
  return `[${label}](${cleanText(url)
    .trim()
    .replaceAll(/[\s<>()\\`"']/g, encoded)})`;
}

function isLinkable(url: string): boolean {
  const cleaned = cleanText(url).trim();
  return /^https?:\/\//i.test(cleaned) && URL.canParse(cleaned);
}

/** Also encodes the characters that encodeURIComponent leaves. */
const encoded = (character: string): string =>
  /['()]/.test(character) ? `%${character.charCodeAt(0).toString(16)}` : encodeURIComponent(character);

/** Escapes untrusted text: one line, nothing of it parsed as Markdown or HTML. */
const plain = (text: string): string =>
  onOneLine(text)
    .replaceAll(/[\\`*_[\]<>|~$#!]/g, String.raw`\$&`)
    .replaceAll(/&(?=\w)/g, "&amp;");
