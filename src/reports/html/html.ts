/** A report as HTML that is safe to show: read from Markdown without any HTML of its own, then held to an allow-list. */

import markdownIt, { type MarkdownIt, type RendererRule, type Token } from "markdown-it";
import { type ByteCitation, placeCitations } from "../citations/positions.ts";
import { addCitations } from "../citations/rules.ts";
import { allowedHtml } from "./allowed.ts";
import { type Allowance, type ContentsEntry, type MakeToken, nameHeadings, rewriteLinks, takeTitle } from "./tokens.ts";
import { boundedText, restHtml } from "./size-limit.ts";
import { insertPictures, pictureMark, type PictureSource, showPictures } from "../pictures/html.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { placePictures } from "../pictures/place.ts";
import { meantNumbers } from "../citations/meant-numbers.ts";
import { withoutOwnList } from "../citations/own-source-list.ts";
import { onOneLine, titleOf } from "../report-facts.ts";
import type { Source } from "../report.ts";
import { webAddress } from "../web-address.ts";

export interface HtmlRequest {
  report: string;
  query: string;
  sources: readonly Source[];
  /** Places that are known by their bytes, beside those that are written in the text. */
  citations?: readonly ByteCitation[] | undefined;
  pictures?: readonly PictureFacts[] | undefined;
  /** For a document that carries its pictures itself. */
  pictureSource?: PictureSource | undefined;
}

export interface CitedSource {
  n: number;
  title: string;
  domain: string;
  /** http and https only. */
  url?: string;
  /** The ids of the places that cite it, in order. */
  cited_at: string[];
}

export interface ReportHtml {
  title: string;
  html: string;
  contents: ContentsEntry[];
  sources: CitedSource[];
}

/** What links and citations may add: a hostile text could make gigabytes of a few bytes. */
const MOST_ADDED_CHARACTERS = 8_000_000;

export function renderReportHtml(request: HtmlRequest): ReportHtml {
  const { report, query, sources, citations = [], pictures = [] } = request;
  const placed = placeCitations(report, citations);
  const { text, rest } = boundedText(withoutOwnList(placed.text, sources));
  const cited = sources.map(citedSource);
  const byNumber = new Map(cited.toReversed().map((source) => [source.n, source]));
  const allowance: Allowance = { characters: MOST_ADDED_CHARACTERS };
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  // What becomes of an address is decided below; refused here, a link would stay in the text as Markdown.
  md.validateLink = () => true;
  addCitations(md, {
    places: placed.places.filter(({ at }) => at <= text.length),
    known: new Set(cited.flatMap(({ n }) => (Number.isSafeInteger(n) && n >= 0 ? [n] : []))),
    meant: meantNumbers({ report, sources, citations }),
    numberOf: sourceFinder(sources),
  });
  readPiecewise(md);
  addRules(md, byNumber, allowance);
  let title: string | undefined;
  let contents: ContentsEntry[] = [];
  const pictured = placePictures(report, pictures);
  md.core.ruler.push("report", (state) => {
    const { tokens, Token: OneToken } = state;
    const make: MakeToken = (type, tag, nesting) => new OneToken(type, tag, nesting);
    title = takeTitle(tokens);
    contents = nameHeadings(tokens);
    rewriteLinks(tokens, allowance, make);
    state.tokens = insertPictures(tokens, pictured, make);
  });
  const safe = showPictures(allowedHtml(md.render(text)), pictures, request.pictureSource);
  const html = safe + restHtml(rest, md.utils.escapeHtml);
  return { title: title ?? titleOf(query), html, contents, sources: cited };
}

function citedSource({ n, title, domain, url, resolved_url: resolved }: Source): CitedSource {
  const site = onOneLine(domain);
  const address = webAddress((resolved ?? url).trim()) ?? webAddress(url.trim());
  const name = onOneLine(title) || site || "Source";
  return { n, title: name, domain: site, ...(address === undefined ? {} : { url: address }), cited_at: [] };
}

/** Some reports define `[1]: address` for their marks, in a count of their own. */
function sourceFinder(sources: readonly Source[]): (address: string) => number | undefined {
  const numbers = new Map<string, number>();
  for (const { n, url, resolved_url: resolved } of sources) {
    for (const address of [url, resolved ?? url]) numbers.set(webAddress(address) ?? address, n);
  }
  return (address) => numbers.get(webAddress(address) ?? address);
}

/** A longer paragraph is nobody's prose. It is shown as it is: to look for links in it could take minutes. */
const LONGEST_PIECE = 20_000;
/** From every bracket the reader looks through the rest of the piece: brackets times characters. */
const MOST_LOOKING = 3_000_000;

const isReadable = (text: string): boolean =>
  text.length <= LONGEST_PIECE && text.length * (text.split("[").length - 1) <= MOST_LOOKING;

function readPiecewise(md: MarkdownIt): void {
  md.core.ruler.at("inline", (state) => {
    for (const { type, content, children } of state.tokens) {
      if (type !== "inline" || children === null) continue;
      if (isReadable(content)) md.inline.parse(content, md, state.env, children);
      else children.push(Object.assign(new state.Token("text", "", 0), { content }));
    }
  });
}

const LONGEST_LABEL = 120;

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
    // Wide tables scroll by themselves, and a keyboard has to get at what scrolls.
    table_open: () => {
      tables += 1;
      return `<div class="table" role="region" aria-label="Table ${tables}" tabindex="0"><table>\n`;
    },
    table_close: () => "</table></div>\n",
    picture: (tokens: Token[], at: number) => pictureMark(Number(tokens[at]?.meta?.["n"])),
    citation: (tokens: Token[], at: number) => {
      const n = Number(tokens[at]?.meta?.["n"]);
      const source = sources.get(n);
      const label = escapeHtml(`Source ${n}: ${source?.title.slice(0, LONGEST_LABEL).toWellFormed()}`);
      allowance.characters -= label.length + 100;
      if (source === undefined || allowance.characters < 0) return `[${n}]`;
      const id = `cite-${n}-${source.cited_at.length + 1}`;
      source.cited_at.push(id);
      return `<sup class="cite"><a id="${id}" href="#source-${n}" aria-label="${label}">[${n}]</a></sup>`;
    },
  });
}
