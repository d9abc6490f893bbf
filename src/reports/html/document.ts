/** Renders a report as one self-contained HTML file, without scripts and without external resources. */

import { createHash } from "node:crypto";
import { hasRightToLeft, languageOf } from "../document/presentation.ts";
import type { CitedSource } from "../document/sources.ts";
import { recognisedLanguage } from "../language.ts";
import { joinParts, renderReportParts, type ReportParts } from "./html.ts";
import type { PictureSource } from "../pictures/html.ts";
import type { Picture } from "../pictures/picture.ts";
import { redirectRemark } from "../link-expiry.ts";
import { type EmbeddingFile, longDate, onOneLine, partialText, reportFacts, titleOfFile } from "../report-facts.ts";
import { readSuggestions } from "../suggestions/chips.ts";
import { FRAME_SANDBOX, frameHeight, suggestionFrame } from "../suggestions/frame.ts";

// Style sheet of saved HTML reports: any screen width, light and dark, and print.

const DOCUMENT_STYLE = `
:root { color-scheme: light dark; --text: #1c1e21; --quiet: #55595f; --page: #ffffff; --soft: #f2f3f5; --line: #c9ccd1; --link: #0b57b8; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e9eb; --quiet: #abb0b8; --page: #17191c; --soft: #24272b; --line: #474c53; --link: #8ab8ff; --warn: #ffc37a; }
}
body { margin: 0; background: var(--page); color: var(--text); font: 1.0625rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2, h3, h4, h5, h6 { line-height: 1.3; margin: 2em 0 0.5em; }
a { color: var(--link); }
a:focus-visible, .table:focus-visible, pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
:target { background: var(--soft); outline: 2px solid var(--link); }
.partial { border: 2px solid var(--warn); border-radius: 0.4rem; padding: 0.6rem 0.9rem; }
.partial strong { color: var(--warn); }
.date { color: var(--quiet); margin: 0 0 2rem; }
.note-above { border-inline-start: 4px solid var(--line); padding-inline-start: 1rem; }
.facts { display: grid; gap: 0.15rem; margin: 0; padding: 0.8rem 1rem; background: var(--soft); border-radius: 0.4rem; font-size: 0.9rem; }
.facts div { display: flex; flex-wrap: wrap; gap: 0 0.6rem; }
.facts dt { font-weight: 600; min-width: 6rem; }
.facts dd { margin: 0; flex: 1; min-width: 12rem; }
nav ul { list-style: none; padding: 0; }
nav h2, .sources h2, .about h2 { font-size: 1.2rem; }
.level-3 { padding-inline-start: 1.2rem; } .level-4 { padding-inline-start: 2.4rem; } .level-5 { padding-inline-start: 3.6rem; } .level-6 { padding-inline-start: 4.8rem; }
.table { position: relative; left: 50%; transform: translateX(-50%); width: fit-content; min-width: 100%; max-width: min(72rem, 100vw - 2.5rem); overflow-x: auto; margin: 1em 0; }
table { border-collapse: separate; border-spacing: 0; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); border-width: 0 0 1px; padding: 0.35rem 0.6rem; text-align: start; vertical-align: top; min-width: 4rem; }
th { background: var(--soft); }
tr > :first-child { position: sticky; inset-inline-start: 0; max-width: min(16rem, 45vw); background: var(--page); border-inline-end-width: 1px; }
tr > th:first-child { background: var(--soft); }
.table::before { content: "Scroll sideways to see all columns →"; position: sticky; inset-inline-start: 0; display: none; width: fit-content; color: var(--quiet); font-size: 0.85rem; }
@supports (animation-timeline: scroll()) {
  .table { timeline-scope: --columns; scroll-timeline: --columns inline; }
  @keyframes scrolls { from, to { display: block; } }
  .table::before { animation: scrolls linear both; animation-timeline: --columns; }
}
.center { text-align: center; } .right { text-align: right; }
.code { margin: 1em 0; } .code[data-language]::before { content: attr(data-language); color: var(--quiet); font-size: 0.8rem; }
.rest { white-space: pre-wrap; } .task-item { list-style: none; } .task { margin-inline-start: -1.4em; }
.footnotes { margin-top: 2em; border-top: 1px solid var(--line); font-size: 0.92rem; } .note { line-height: 0; } .note a { text-decoration: none; }
.report { overflow-y: clip; } .report > :has(math) { overflow: auto hidden; }
.maths { overflow-x: auto; margin: 1em 0; } math { font-size: 1.1em; } .tml-left { text-align: left; } .tml-right { text-align: right; } .tml-jot > mtr > mtd { padding: 0.3ex 0; } .tml-overline { border-top: 0.07em solid; padding-top: 0.1em; } .tml-underline { border-bottom: 0.07em solid; padding-bottom: 0.1em; }
pre { overflow-x: auto; background: var(--soft); padding: 0.8rem 1rem; border-radius: 0.4rem; overflow-wrap: normal; }
code { font-family: ui-monospace, monospace; font-size: 0.92em; background: var(--soft); }
blockquote { margin: 1em 0; padding: 0 1rem; border-inline-start: 4px solid var(--line); color: var(--quiet); }
.cite { line-height: 0; white-space: nowrap; } .cite a { text-decoration: none; } .cite a:hover { text-decoration: underline; }
.picture { margin: 1.5em 0; } .picture img { max-width: 100%; height: auto; background: #ffffff; border-radius: 0.4rem; }
.suggestions iframe { width: 100%; border: 0; } .suggestions h2 { font-size: 1.2rem; }
.sources ul { list-style: none; padding: 0; } .sources li { margin: 0.5rem 0; padding: 0.1rem 0.3rem; }
.number { font-weight: 600; } .address { display: none; } .back { font-size: 0.85rem; }
@page { margin: 18mm 16mm; }
@media print {
  :root { --text: #000000; --quiet: #333333; --page: #ffffff; --soft: #f4f4f4; --line: #999999; --link: #000000; --warn: #000000; }
  body { font-size: 10.5pt; line-height: 1.45; } main { max-width: none; padding: 0; }
  h1, h2, h3, h4, h5, h6 { break-after: avoid; } p, li { orphans: 3; widows: 3; }
  pre, blockquote, tr, .facts { break-inside: avoid; } pre { white-space: pre-wrap; } thead { display: table-header-group; }
  .table { position: static; transform: none; width: auto; max-width: none; overflow: visible; } .table::before { animation: none; display: none; } .maths { overflow: visible; }
  table { overflow-wrap: anywhere; } th, td { min-width: 0; } tr > :first-child { position: static; max-width: none; } :target { background: none; outline: none; }
  .back { display: none; } .address { display: block; font-size: 0.85em; color: var(--quiet); }
}
`;
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

export async function renderHtmlDocument(request: EmbeddingFile): Promise<string> {
  const { query, sources, endedAt, metadata, pictures = [], searchSuggestions = [] } = request;
  const report = joinParts(await renderReportParts({ ...request, pictureSource: embedded(pictures) }));
  const suggestions = readSuggestions(searchSuggestions);
  // The frame is subject to this document's policy and to its own, so its styles need a nonce that both contain.
  const nonce = suggestions.chips.length === 0 ? undefined : crypto.randomUUID();
  const policy = policyOf({ nonce, hasPictures: pictures.length > 0 });
  const name = titleOfFile(request, report.title);
  const title = escaped(name);
  const facts = metadata === undefined ? [] : reportFacts(metadata, { query, sources: sources.length });
  return `<!doctype html>
<html lang="${recognisedLanguage(request.report) ?? "en"}">
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
  partialMark(request),
  `<h1${directionOf(name)}>${title}</h1>`,
  endedAt === undefined ? "" : `<p class="date">${longDate(endedAt)}</p>`,
  metadata?.note === undefined ? "" : `<p class="note-above">${escaped(metadata.note)}</p>`,
  contentsList(report),
  `<div class="report">${report.html}</div>`,
  nonce === undefined ? "" : suggestionsFrame(suggestionFrame(suggestions.html, nonce), searchSuggestions.length),
  request.includeSources === false ? "" : sourceList(report, endedAt),
  factList(facts),
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

function partialMark(file: EmbeddingFile): string {
  const partial = partialText(file);
  return partial === undefined ? "" : `<p class="partial"><strong>PARTIAL</strong>: ${escaped(partial)}</p>`;
}

function factList(facts: readonly [string, string][]): string {
  if (facts.length === 0) return "";
  const lines = facts.map(
    ([name, value]) => `<div><dt>${escaped(name)}</dt><dd${directionOf(value)}>${escaped(value)}</dd></div>`,
  );
  return `<section class="about" aria-labelledby="about-title">\n<h2 id="about-title">About this report</h2>\n<dl class="facts">\n${lines.join("\n")}\n</dl>\n</section>`;
}

function contentsList({ contents }: Pick<ReportParts, "contents">): string {
  if (contents.length < 2) return "";
  const lines = contents.map(
    ({ id, title, level }) =>
      `<li class="level-${level}"${directionOf(title)}><a href="#${id}">${escaped(title)}</a></li>`,
  );
  return `<nav aria-labelledby="contents-title">\n<h2 id="contents-title">Contents</h2>\n<ul>\n${lines.join("\n")}\n</ul>\n</nav>`;
}

function sourceList({ sources }: Pick<ReportParts, "sources">, endedAt: number | undefined): string {
  if (sources.length === 0) return "";
  const lines = sources.map((source) => sourceLine(source, endedAt));
  return `<section class="sources" aria-labelledby="sources-title">\n<h2 id="sources-title">Sources</h2>\n<ul>\n${lines.join("\n")}\n</ul>\n</section>`;
}

/** For text outside of the blocks of a report. */
function directionOf(text: string): string {
  const language = languageOf(text);
  return `${hasRightToLeft(text) ? ' dir="auto"' : ""}${language === undefined ? "" : ` lang="${language}"`}`;
}

function sourceLine(
  { n, also = [], title, domain, url, cited_at: citationIds }: CitedSource,
  endedAt: number | undefined,
): string {
  const name = escaped(title);
  const link =
    url === undefined
      ? name
      : `<a href="${escaped(url)}" rel="noopener noreferrer nofollow" target="_blank" referrerpolicy="no-referrer">${name}</a>`;
  const remarks = [
    domain === title ? "" : escaped(domain),
    ...(url === undefined ? [] : redirectRemark({ url }, endedAt)),
  ];
  const remark = remarks.filter((part) => part !== "").join(", ");
  const site = remark === "" ? "" : ` (${remark})`;
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
