/** Renders a report as safe HTML: Markdown without raw HTML, then an allow-list. */

import markdownIt, { type MarkdownIt, type RendererRule, type Token } from "markdown-it";
import { type ByteCitation, locateCitations } from "../citations/positions.ts";
import { addCitations } from "../citations/rules.ts";
import { allowedHtml } from "./allowed.ts";
import {
  type Allowance,
  type ContentsEntry,
  type MakeToken,
  addHeadingIds,
  rewriteLinks,
  takeTitle,
} from "./tokens.ts";
import { boundInlineParsing } from "../markdown/bounded-inline.ts";
import { boundedText, restHtml } from "./size-limit.ts";
import { insertPictures, pictureMark, type PictureSource, showPictures } from "../pictures/html.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { locatePictures } from "../pictures/positions.ts";
import { resolveCitationNumbers } from "../citations/citation-numbers.ts";
import { removeSourceList } from "../citations/own-source-list.ts";
import { onOneLine, titleOf } from "../report-facts.ts";
import type { Source } from "../report.ts";
import { webUrl } from "../web-url.ts";

export interface HtmlRequest {
  report: string;
  query: string;
  sources: readonly Source[];
  /** Citations by byte offset, in addition to those written in the text. */
  citations?: readonly ByteCitation[] | undefined;
  pictures?: readonly PictureFacts[] | undefined;
  /** For a document that embeds its pictures. */
  pictureSource?: PictureSource | undefined;
}

export interface CitedSource {
  n: number;
  title: string;
  domain: string;
  /** http and https only. */
  url?: string;
  /** The ids of its citations in the text, in order. */
  cited_at: string[];
}

export interface ReportHtml {
  title: string;
  html: string;
  contents: ContentsEntry[];
  sources: CitedSource[];
}

/** Budget for the markup of links and citations: a hostile text could expand a few bytes to gigabytes. */
const MAX_ADDED_CHARACTERS = 8_000_000;

export function renderReportHtml(request: HtmlRequest): ReportHtml {
  const { report, query, sources, citations = [], pictures = [] } = request;
  const located = locateCitations(report, citations);
  const { text, rest } = boundedText(removeSourceList(located.text, sources));
  const cited = sources.map(citedSource);
  const byNumber = new Map(cited.toReversed().map((source) => [source.n, source]));
  const allowance: Allowance = { characters: MAX_ADDED_CHARACTERS };
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  // Links are checked in `rewriteLinks`; rejected here, a link would stay in the text as Markdown.
  md.validateLink = () => true;
  addCitations(md, {
    positions: located.positions.filter(({ at }) => at <= text.length),
    known: new Set(cited.flatMap(({ n }) => (Number.isSafeInteger(n) && n >= 0 ? [n] : []))),
    meant: resolveCitationNumbers({ report, sources, citations }),
    numberOf: sourceFinder(sources),
  });
  boundInlineParsing(md);
  addRules(md, byNumber, allowance);
  let title: string | undefined;
  let contents: ContentsEntry[] = [];
  const pictured = locatePictures(report, pictures);
  md.core.ruler.push("report", (state) => {
    const { tokens, Token: OneToken } = state;
    const make: MakeToken = (type, tag, nesting) => new OneToken(type, tag, nesting);
    title = takeTitle(tokens);
    contents = addHeadingIds(tokens);
    rewriteLinks(tokens, allowance, make);
    state.tokens = insertPictures(tokens, pictured, make);
  });
  const safe = showPictures(allowedHtml(md.render(text)), pictures, request.pictureSource);
  const html = safe + restHtml(rest, md.utils.escapeHtml);
  return { title: title ?? titleOf(query), html, contents, sources: cited };
}

function citedSource({ n, title, domain, url, resolved_url: resolved }: Source): CitedSource {
  const site = onOneLine(domain);
  const safeUrl = webUrl((resolved ?? url).trim()) ?? webUrl(url.trim());
  const name = onOneLine(title) || site || "Source";
  return { n, title: name, domain: site, ...(safeUrl === undefined ? {} : { url: safeUrl }), cited_at: [] };
}

/** Some reports define `[1]: url` for their marks, with their own numbering. */
function sourceFinder(sources: readonly Source[]): (url: string) => number | undefined {
  const numbers = new Map<string, number>();
  for (const { n, url, resolved_url: resolved } of sources) {
    for (const spelling of [url, resolved ?? url]) numbers.set(webUrl(spelling) ?? spelling, n);
  }
  return (url) => numbers.get(webUrl(url) ?? url);
}

const MAX_LABEL_CHARACTERS = 120;

function addRules(md: MarkdownIt, sources: ReadonlyMap<number, CitedSource>, allowance: Allowance): void {
  const { escapeHtml } = md.utils;
  const code: RendererRule = (tokens, at) =>
    `<pre tabindex="0"><code>${escapeHtml(tokens[at]?.content ?? "")}</code></pre>\n`;
  let tables = 0;
  const cell: RendererRule = (tokens, at) => {
    const [, alignment] = /^text-align:(center|right)$/.exec(String(tokens[at]?.attrGet("style") ?? "")) ?? [];
    return `<${tokens[at]?.tag ?? "td"}${alignment === undefined ? "" : ` class="${alignment}"`}>`;
  };
  Object.assign(md.renderer.rules, {
    fence: code,
    code_block: code,
    th_open: cell,
    td_open: cell,
    // Wide tables scroll, and keyboard users must be able to focus them.
    table_open: () => {
      tables += 1;
      return `<div class="table" role="region" aria-label="Table ${tables}" tabindex="0"><table>\n`;
    },
    table_close: () => "</table></div>\n",
    picture: (tokens: Token[], at: number) => pictureMark(Number(tokens[at]?.meta?.["n"])),
    citation: (tokens: Token[], at: number) => {
      const n = Number(tokens[at]?.meta?.["n"]);
      const source = sources.get(n);
      const label = escapeHtml(`Source ${n}: ${source?.title.slice(0, MAX_LABEL_CHARACTERS).toWellFormed()}`);
      allowance.characters -= label.length + 100;
      if (source === undefined || allowance.characters < 0) return `[${n}]`;
      const id = `cite-${n}-${source.cited_at.length + 1}`;
      source.cited_at.push(id);
      return `<sup class="cite"><a id="${id}" href="#source-${n}" aria-label="${label}">[${n}]</a></sup>`;
    },
  });
}
