/** A stored run as a Markdown document, by a template in code: no model, no template files, every value escaped. */

import { cleanText } from "../platform/clean-text.ts";
import { neutralMarkdown } from "./neutral-markdown.ts";
import { withoutOwnList } from "./own-source-list.ts";
import type { PictureFacts } from "./pictures/picture.ts";
import { describePicture, pictureAlt, placePictures, withPictures } from "./pictures/place.ts";
import { onOneLine, type ReportMetadata, reportFacts, titleOf } from "./report-facts.ts";
import { isRedirect, type Source } from "./report.ts";

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
  pictures?: readonly PictureFacts[] | undefined;
  /** How the document refers to a picture; by default it only says that there is one. */
  pictureAddress?: ((picture: PictureFacts) => string) | undefined;
}

/** The mark of a partial report is the first line, which is why there is no front matter before it. */
export function renderMarkdown(document: ReportDocument): string {
  const { query, sources, partial, metadata, includeSources } = document;
  const { title, body } = splitTitle(
    pictured(document, neutralMarkdown(withoutOwnList(cleanText(document.report), sources))),
  );
  const sections = [
    ...(partial === undefined
      ? []
      : [`> **PARTIAL**: this run ended as ${plain(partial)} before its report was complete.`]),
    `# ${title ?? plain(titleOf(query))}`,
    ...(metadata === undefined ? [] : [metadataLines(metadata, { query, sources: sources.length })]),
    body,
    ...(includeSources && sources.length > 0 ? ["## Sources", sources.map(sourceLine).join("\n")] : []),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
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

const metadataLines = (about: ReportMetadata, of: { query: string; sources: number }): string =>
  reportFacts(about, of)
    .map(([name, value]) => `- **${name}:** ${plain(value)}`)
    .join("\n");

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

/** Foreign text as text: on one line, and none of it read as Markdown or HTML. */
const plain = (text: string): string =>
  onOneLine(text)
    .replaceAll(/[\\`*_[\]<>|~$#!]/g, String.raw`\$&`)
    .replaceAll(/&(?=\w)/g, "&amp;");
