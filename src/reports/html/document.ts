/** Renders a report as one self-contained HTML file, without scripts and without external resources. */

import { createHash } from "node:crypto";
import {
  type CitedSource,
  type HtmlRequest,
  joinParts,
  type ReportHtml,
  renderReportHtml,
  renderReportParts,
} from "./html.ts";
import { hasRightToLeft, languageOf } from "./directions.ts";
import type { PictureSource } from "../pictures/html.ts";
import type { Picture } from "../pictures/picture.ts";
import { DOCUMENT_STYLE } from "./document-style.ts";
import { onOneLine, type ReportMetadata, reportFacts } from "../report-facts.ts";
import { readSuggestions } from "../suggestions/chips.ts";
import { FRAME_SANDBOX, frameHeight, suggestionFrame } from "../suggestions/frame.ts";

export interface HtmlDocumentRequest extends Omit<HtmlRequest, "pictureSource"> {
  pictures?: readonly Picture[] | undefined;
  /** Google's Search Suggestions as received. */
  searchSuggestions?: readonly string[] | undefined;
  /** How the run ended, if it ended before the report was complete. */
  partial: string | undefined;
  /** Undefined: the document has no metadata. */
  metadata: ReportMetadata | undefined;
}

const STYLE_HASH = `'sha256-${createHash("sha256").update(DOCUMENT_STYLE).digest("base64")}'`;

/** Allows only what this document contains: pictures and Google's styles only if it has any. */
const policyOf = ({ nonce, hasPictures }: { nonce: string | undefined; hasPictures: boolean }): string =>
  [
    "default-src 'none'",
    `style-src ${STYLE_HASH}${nonce === undefined ? "" : ` 'nonce-${nonce}'`}`,
    ...(hasPictures ? ["img-src data:"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

/** All at once; for reports of usual length. */
export const renderHtmlDocument = (request: HtmlDocumentRequest): string =>
  documentOf(request, renderReportHtml(withPictures(request)));

/** Lets other requests proceed while a long report is rendered. */
export const renderHtmlDocumentInParts = async (request: HtmlDocumentRequest): Promise<string> =>
  documentOf(request, joinParts(await renderReportParts(withPictures(request))));

const withPictures = (request: HtmlDocumentRequest): HtmlRequest => ({
  ...request,
  pictureSource: embedded(request.pictures ?? []),
});

function documentOf(request: HtmlDocumentRequest, report: ReportHtml): string {
  const { query, sources, partial, metadata, pictures = [], searchSuggestions = [] } = request;
  const suggestions = readSuggestions(searchSuggestions);
  // The frame is subject to this document's policy and to its own, so its styles need a nonce that both contain.
  const nonce = suggestions.chips.length === 0 ? undefined : crypto.randomUUID();
  const policy = policyOf({ nonce, hasPictures: pictures.length > 0 });
  const title = escaped(report.title);
  const facts = metadata === undefined ? [] : reportFacts(metadata, { query, sources: sources.length });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${DOCUMENT_STYLE}</style>
</head>
<body>
<main>
${[
  partialMark(partial),
  `<h1${directionOf(report.title)}>${title}</h1>`,
  factList(facts),
  contentsList(report),
  `<div class="report">${report.html}</div>`,
  nonce === undefined ? "" : suggestionsFrame(suggestionFrame(suggestions.html, nonce), searchSuggestions.length),
  sourceList(report),
]
  .filter((part) => part !== "")
  .join("\n")}
</main>
</body>
</html>
`;
}

/** Larger pictures stay in the store: a browser loads the whole file before it shows anything. */
const MAX_EMBEDDED_BYTES = 8 * 1_024 * 1_024;

function embedded(pictures: readonly Picture[]): PictureSource {
  const byNumber = new Map<number, Picture>();
  let left = MAX_EMBEDDED_BYTES;
  for (const picture of pictures) {
    if (picture.byteLength > left) continue;
    left -= picture.byteLength;
    byNumber.set(picture.n, picture);
  }
  return (n) => {
    const picture = byNumber.get(n);
    if (picture === undefined) return undefined;
    return `data:${picture.mimeType};base64,${Buffer.from(picture.content).toString("base64")}`;
  };
}

const suggestionsFrame = (document: string, blocks: number): string =>
  `<section class="suggestions" aria-labelledby="suggestions-title">
<h2 id="suggestions-title">Search Suggestions</h2>
<iframe title="Google Search Suggestions" sandbox="${FRAME_SANDBOX}" height="${frameHeight(blocks)}" srcdoc="${attribute(document)}"></iframe>
</section>`;

const partialMark = (ended: string | undefined): string =>
  ended === undefined
    ? ""
    : `<p class="partial"><strong>PARTIAL</strong>: this run ended as ${escaped(ended)} before its report was complete.</p>`;

function factList(facts: readonly [string, string][]): string {
  if (facts.length === 0) return "";
  const lines = facts.map(
    ([name, value]) => `<div><dt>${escaped(name)}</dt><dd${directionOf(value)}>${escaped(value)}</dd></div>`,
  );
  return `<dl class="facts">\n${lines.join("\n")}\n</dl>`;
}

function contentsList({ contents }: ReportHtml): string {
  if (contents.length < 2) return "";
  const lines = contents.map(
    ({ id, title, level }) =>
      `<li class="level-${level}"${directionOf(title)}><a href="#${id}">${escaped(title)}</a></li>`,
  );
  return `<nav aria-labelledby="contents-title">\n<h2 id="contents-title">Contents</h2>\n<ul>\n${lines.join("\n")}\n</ul>\n</nav>`;
}

function sourceList({ sources }: ReportHtml): string {
  if (sources.length === 0) return "";
  return `<section class="sources" aria-labelledby="sources-title">\n<h2 id="sources-title">Sources</h2>\n<ul>\n${sources.map(sourceLine).join("\n")}\n</ul>\n</section>`;
}

/** For text outside of the blocks of a report. */
function directionOf(text: string): string {
  const language = languageOf(text);
  return `${hasRightToLeft(text) ? ' dir="auto"' : ""}${language === undefined ? "" : ` lang="${language}"`}`;
}

function sourceLine({ n, also = [], title, domain, url, cited_at: citationIds }: CitedSource): string {
  const name = escaped(title);
  const link =
    url === undefined
      ? name
      : `<a href="${escaped(url)}" rel="noopener noreferrer nofollow" target="_blank" referrerpolicy="no-referrer">${name}</a>`;
  const site = domain === "" || domain === title ? "" : ` (${escaped(domain)})`;
  const printedUrl = url === undefined ? "" : ` <span class="address">${escaped(url)}</span>`;
  const numbers = [n, ...also].map((one) => `[${one}]`).join(" ");
  return `<li id="source-${n}"${directionOf(title)}><span class="number">${numbers}</span> ${link}${site}${printedUrl}${backLinks(n, citationIds)}</li>`;
}

/** More back links would push the next source out of sight. */
const MAX_BACK_LINKS = 50;

function backLinks(n: number, citationIds: readonly string[]): string {
  const links = citationIds
    .slice(0, MAX_BACK_LINKS)
    .map((id, index) => `<a href="#${id}" aria-label="Back to citation ${index + 1} of source ${n}">↩${index + 1}</a>`);
  if (links.length === 0) return "";
  const times = citationIds.length === 1 ? "Cited once" : `Cited ${citationIds.length} times`;
  return ` <span class="back">${times} ${links.join(" ")}</span>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const attribute = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

const escaped = (text: string): string => attribute(onOneLine(text));
