/** A stored run as a Markdown document: every value is made safe here, and a template says where it stands. */

import { cleanText } from "../../platform/clean-text.ts";
import { type ByteCitation, MARK_IN_TEXT, numbersIn } from "../citations/positions.ts";
import { meantNumbers } from "../citations/meant-numbers.ts";
import { neutralMarkdown } from "./neutral-markdown.ts";
import { outsideCode } from "./outside-code.ts";
import { withoutOwnList } from "../citations/own-source-list.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { describePicture, pictureAlt, placePictures, withPictures } from "../pictures/place.ts";
import { onOneLine, type ReportMetadata, reportFacts, titleOf } from "../report-facts.ts";
import { isRedirect, type Source } from "../report.ts";
import { renderTemplate, type TemplateOptions } from "./report-template.ts";

export interface ReportDocument {
  query: string;
  report: string;
  /** Numbered as the report cites them. */
  sources: readonly Source[];
  /** Which pages Google cites at which bytes of the report. */
  citations?: readonly ByteCitation[] | undefined;
  /** How the run ended, where it ended before the report was complete. */
  partial: string | undefined;
  /** Why it did, in a sentence of ours. */
  reason?: string | undefined;
  /** Undefined leaves every line of it out. */
  metadata: ReportMetadata | undefined;
  includeSources: boolean;
  pictures?: readonly PictureFacts[] | undefined;
  /** How the document refers to a picture; by default it only says that there is one. */
  pictureAddress?: ((picture: PictureFacts) => string) | undefined;
}

/** Without options by our own template. The mark of a partial report is the first line, so there is no front matter. */
export function renderMarkdown(document: ReportDocument, options?: TemplateOptions): string {
  const { query, sources, partial, reason, metadata, includeSources } = document;
  const report = pictured(document, neutralMarkdown(withoutOwnList(cleanText(document.report), sources)));
  const { title, body } = splitTitle(withLinkedMarks(report, document));
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

/** U3: `[cite: 1, 2]` and `[1]` lead to the pages they mean; a number that nothing explains stays as it is. */
function withLinkedMarks(text: string, document: ReportDocument): string {
  const marks = new Map(document.sources.map(({ n, url, resolved_url: resolved }) => [n, markOf(n, resolved ?? url)]));
  const meant = meantNumbers(document);
  return outsideCode(text, (prose) => {
    if (!prose.includes("[")) return prose;
    return prose.replaceAll(MARK_IN_TEXT, (mark, googles: string | undefined, list: string, at: number) => {
      // `array[1]` is no citation.
      if (googles === undefined && /\w/.test(prose[at - 1] ?? "")) return mark;
      const numbers = numbersIn(list);
      const sourceOf = googles === undefined ? meant.plain : meant.googles;
      if (!numbers.some((n) => sourceOf.has(n))) return mark;
      return numbers.map((n) => marks.get(sourceOf.get(n) ?? Number.NaN) ?? plain(`[${n}]`)).join("");
    });
  });
}

function markOf(n: number, address: string): string {
  const label = plain(`[${n}]`);
  return isLinkable(address) ? linked(label, address) : label;
}

/** After everything foreign was made harmless: an image of ours is the only one that a document shows. */
function pictured({ report, pictures = [], pictureAddress }: ReportDocument, text: string): string {
  const byNumber = new Map(pictures.map((picture) => [picture.n, picture]));
  return withPictures(text, placePictures(report, pictures), (n) => {
    const picture = byNumber.get(n);
    const address = picture === undefined ? undefined : pictureAddress?.(picture);
    if (address !== undefined) return `![${pictureAlt(n)}](${address})`;
    return `*${pictureAlt(n)}${picture === undefined ? "" : ` (${describePicture(picture)})`} is not part of this file.*`;
  });
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

const metadataFacts = (about: ReportMetadata, of: { query: string; sources: number }) =>
  reportFacts(about, of).map(([name, value]) => ({ name, value: plain(value) }));

/** The number is text: a list would count for itself, and citations may leave numbers out. */
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
  const address = cleanText(url).trim();
  return /^https?:\/\//i.test(address) && URL.canParse(address);
}

/** Also those that encodeURIComponent leaves as they are. */
const encoded = (character: string): string =>
  /['()]/.test(character) ? `%${character.charCodeAt(0).toString(16)}` : encodeURIComponent(character);

/** Foreign text as text: on one line, and none of it read as Markdown or HTML. */
const plain = (text: string): string =>
  onOneLine(text)
    .replaceAll(/[\\`*_[\]<>|~$#!]/g, String.raw`\$&`)
    .replaceAll(/&(?=\w)/g, "&amp;");
