/**
 * Renders a stored run as a Markdown document: escapes every value here, and a template arranges them. Citations and
 * sources are reference links, whose addresses are at the end, so that the file reads as text, too.
 */

import { cleanText } from "../../platform/clean-text.ts";
import { markAt, removeSourceList, resolveCitationNumbers, withoutStartMarks, wouldDefine } from "../citations.ts";
import { headingOf, linesOf } from "../document/lines.ts";
import type { FurtherText, ReportText } from "../further-text.ts";
import { neutralMarkdown, type Piece, type RewriteMark } from "./neutral-markdown.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { describePicture, pictureAlt, locatePictures, withPictures } from "../pictures/positions.ts";
import { redirectRemark } from "../link-expiry.ts";
import {
  longDate,
  onOneLine,
  partialText,
  type ReportFile,
  type ReportMetadata,
  reportFacts,
  titleOf,
} from "../report-facts.ts";
import type { Source } from "../report.ts";
import { renderTemplate, type TemplateOptions } from "./report-template.ts";

export interface ReportDocument extends ReportFile {
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
  const { query, sources, endedAt, metadata, includeSources, further } = document;
  const { listed: allSources = sources, texts = [] } = further ?? {};
  const links = referenceLinks([document, ...texts].map(({ report }) => report).join("\n\n"), allSources);
  const { title, body } = splitTitle(pictured(document, linkedText(document, links)));
  const bodies = [body, ...texts.map((text, index) => furtherMarkdown(text, links, index + 2))];
  const partial = partialText(document);
  const listed = includeSources ? allSources.map((source) => sourceValues(source, { links, endedAt })) : [];
  const text = renderTemplate(
    {
      title: document.title === undefined ? (title ?? plain(titleOf(query))) : plain(onOneLine(document.title)),
      date: endedAt === undefined ? undefined : longDate(endedAt),
      partial: partial && plain(partial),
      note: metadata?.note && plain(metadata.note),
      metadata: metadata && metadataFacts(metadata, { query, sources: sources.length }),
      body: bodies.filter((part) => part !== "").join("\n\n"),
      sources: listed,
    },
    options,
  );
  return `${[text.trimEnd(), links.definitions()].filter((part) => part !== "").join("\n\n")}\n`;
}

const linkedText = (text: ReportText | FurtherText, links: ReferenceLinks): string =>
  neutralMarkdown(removeSourceList(withoutStartMarks(text.report), text.sources), linkMarks(text, links));

/** Below its heading, with its own headings a level lower, and footnotes that no other text has. */
function furtherMarkdown(text: FurtherText, links: ReferenceLinks, order: number): string {
  const { body } = splitTitle(linkedText(text, links));
  const lines = [...linesOf(body)].map(({ start, end, heading, code }) => {
    const line = body.slice(start, end);
    if (code !== undefined) return line;
    const own = line.replaceAll(/\[\^(?=[^\s\][^]{1,60}\])/g, `[^${order}-`);
    return heading !== undefined && /^ {0,3}#{2,5}\s/.test(own) ? own.replace("#", "##") : own;
  });
  return `## ${plain(text.heading)}\n\n${lines.join("")}`.trimEnd();
}

interface ReferenceLinks {
  /** A link whose address is defined at the end; undefined if the address is none that may be linked. */
  to(n: number, label?: string): string | undefined;
  /** Whether a number in brackets would be a link. */
  has(n: number): boolean;
  /** Of the links that were made. */
  definitions(): string;
}

/**
 * What may be a definition in the report, whatever precedes it in its line: the first definition of a label counts. Not
 * after a word, as in "these points [1]:".
 */
const DEFINED = /(?:^|[>*+.):\]-])[ \t]*\[[\s>]*(\d{1,5})[\s>]*\]:/gm;

/** A number that the report may define itself is linked without a reference. */
function referenceLinks(report: string, sources: readonly Source[]): ReferenceLinks {
  const urls = new Map(sources.map(({ n, url, resolved_url: resolved }) => [n, resolved ?? url]));
  const taken = new Set([...report.matchAll(DEFINED)].map(([, n]) => Number(n)));
  const used = new Set<number>();
  return {
    to(n, label) {
      const url = urls.get(n) ?? "";
      if (!isLinkable(url)) return undefined;
      if (taken.has(n)) return linked(label ?? String(n), url);
      used.add(n);
      return label === undefined ? `[${n}]` : `[${label}][${n}]`;
    },
    has: (n) => urls.has(n),
    definitions: () =>
      [...used]
        .toSorted((a, b) => a - b)
        .map((n) => `[${n}]: ${address(urls.get(n) ?? "")}`)
        .join("\n"),
  };
}

const DEFINITION = /^ {0,3}\[(\d{1,4})\]:[ \t]*<?https?:\/\/[^\s<>]+>?[^\n]*$/gm;
/** It would be a link to the source with this number. */
const REFERENCE = /\[[ \t]*(\d{1,4})[ \t]*\](?![:(])/y;

/** U3: `[cite: 1, 2]` and `[1]` become links to their sources; an unresolved number stays as it is. */
function linkMarks(written: ReportText | FurtherText, links: ReferenceLinks): RewriteMark {
  const { report, sources } = written;
  const numbers = "heading" in written ? written.numbers : undefined;
  const isNumbered = "heading" in written && numbers === undefined;
  const meant = resolveCitationNumbers(written);
  const known = new Set(sources.map(({ n }) => n));
  const defined = new Set(report.includes("]:") ? [...report.matchAll(DEFINITION)].map(([, n]) => Number(n)) : []);
  const asText = (line: string, at: number): Piece | undefined => {
    REFERENCE.lastIndex = at;
    const [text = "", n = ""] = REFERENCE.exec(line) ?? [];
    return links.has(Number(n)) && !defined.has(Number(n)) ? { text: plain(text), end: at + text.length } : undefined;
  };
  return (line, at) => {
    const mark = markAt(line, at);
    if (mark === undefined || (!mark.isGoogleMark && wouldDefine(line, mark))) return asText(line, at);
    const { end, numbers: marked, isGoogleMark } = mark;
    const sourceOf = isGoogleMark ? meant.google : meant.plain;
    const sourceFor = (n: number): number | undefined => {
      if (isNumbered) return n;
      const own = isGoogleMark || !defined.has(n) ? sourceOf.get(n) : undefined;
      return own === undefined || !known.has(own) ? undefined : (numbers?.get(own) ?? own);
    };
    const cited = marked.map(sourceFor);
    if (cited.every((n) => n === undefined)) return asText(line, at);
    const shown = cited.map((n, index) => (n === undefined ? String(marked[index]) : (links.to(n) ?? String(n))));
    return { end, text: String.raw`\[${shown.join(", ")}\]` };
  };
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
function sourceValues(
  { n, title, url, resolved_url: resolved, domain }: Source,
  { links, endedAt }: { links: ReferenceLinks; endedAt: number | undefined },
) {
  const label = plain(title) || plain(domain) || "Source";
  const site = plain(domain) === label ? "" : plain(domain);
  const target = resolved ?? url;
  return {
    n,
    title: label,
    link: links.to(n, label) ?? `${label}: ${plain(target)}`,
    url: plain(target),
    site: [site, ...redirectRemark({ url: target }, endedAt)].filter((part) => part !== "").join(", "),
  };
}

const linked = (label: string, url: string): string => `[${label}](${address(url)})`;

const address = (url: string): string =>
  cleanText(url)
    .trim()
    .replaceAll(/[\s<>()\\`"']/g, encoded);

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
