/** Renders a report as safe HTML, part by part: Markdown without raw HTML, then an allow-list. */

import { setImmediate } from "node:timers/promises";
import markdownIt, { type MarkdownIt } from "markdown-it";
import { type ByteCitation, locateCitations, type LocatedCitations } from "../citations/positions.ts";
import { addCitations } from "../citations/rules.ts";
import { allowedHtml } from "./allowed.ts";
import { addDirections } from "./directions.ts";
import { addFootnotes, createFootnotes, type Footnotes, footnotesHtml } from "./footnotes.ts";
import { addMaths, createMathsBudget, type MathsBudget } from "./maths.ts";
import { restHtml, splitText, type TextPart } from "./parts.ts";
import { boundInlineParsing } from "../markdown/bounded-inline.ts";
import { addRenderingRules } from "./rules.ts";
import { type CitedSource, indexSources, type SourceIndex } from "./sources.ts";
import { addTaskRule, markTasks } from "./task-lists.ts";
import {
  type Allowance,
  type ContentsEntry,
  type MakeToken,
  addHeadingIds,
  createIds,
  rewriteLinks,
  takeTitle,
} from "./tokens.ts";
import { insertPictures, type PictureSource, showPictures } from "../pictures/html.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { locatePictures, type PicturePosition } from "../pictures/positions.ts";
import { type CitationNumbers, resolveCitationNumbers } from "../citations/citation-numbers.ts";
import { removeSourceList } from "../citations/own-source-list.ts";
import { titleOf } from "../report-facts.ts";
import type { Source } from "../report.ts";

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

export type { CitedSource } from "./sources.ts";

export interface ReportParts {
  title: string;
  /** Consecutive blocks of HTML. Reports of usual length have one part. */
  parts: string[];
  contents: ContentsEntry[];
  sources: CitedSource[];
}

export interface ReportHtml extends Omit<ReportParts, "parts"> {
  html: string;
}

/** All at once; for reports of usual length. */
export function renderReportHtml(request: HtmlRequest): ReportHtml {
  const rendering = renderParts(request);
  for (let step = rendering.next(); ; step = rendering.next()) {
    if (step.done === true) return joinParts(step.value);
  }
}

export const joinParts = ({ parts, ...report }: ReportParts): ReportHtml => ({ ...report, html: parts.join("") });

/** Lets other requests proceed between two parts. */
export async function renderReportParts(request: HtmlRequest): Promise<ReportParts> {
  const rendering = renderParts(request);
  for (let step = rendering.next(); ; step = rendering.next()) {
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** Budget for the markup of links and citations: a hostile text could expand a few bytes to gigabytes. */
const MAX_ADDED_CHARACTERS = 8_000_000;

/** What the parts of a report share. */
interface Rendering {
  located: LocatedCitations;
  pictures: PicturePosition[];
  sources: SourceIndex;
  known: Set<number>;
  meant: CitationNumbers;
  allowance: Allowance;
  maths: MathsBudget;
  footnotes: Footnotes;
  contents: ContentsEntry[];
  idFor: (title: string) => string;
  tables: { count: number };
  env: { references?: Record<string, { href: string; title: string }> };
  title: string | undefined;
}

function* renderParts(request: HtmlRequest): Generator<undefined, ReportParts> {
  const { report, query, sources, citations = [], pictures = [] } = request;
  const located = locateCitations(report, citations);
  const text = removeSourceList(located.text, sources);
  const index = indexSources(sources, text);
  const rendering: Rendering = {
    located,
    pictures: locatePictures(report, pictures),
    sources: index,
    known: new Set([...index.byNumber.keys()].filter((n) => Number.isSafeInteger(n) && n >= 0)),
    meant: resolveCitationNumbers({ report, sources, citations }),
    allowance: { characters: MAX_ADDED_CHARACTERS },
    maths: createMathsBudget(),
    footnotes: createFootnotes(text),
    contents: [],
    idFor: createIds(),
    tables: { count: 0 },
    env: {},
    title: undefined,
  };
  const { parts, rest } = splitText(text);
  if (parts.length > 1) rendering.env = linkDefinitions(text);
  const html: string[] = [];
  const finish = (unsafe: string): string => showPictures(allowedHtml(unsafe), pictures, request.pictureSource);
  for (const [at, part] of parts.entries()) {
    html.push(finish(renderPart(rendering, part, { isFirst: at === 0, next: parts[at + 1]?.start })));
    yield;
  }
  const { escapeHtml } = markdownIt().utils;
  html.push((html.pop() ?? "") + finish(footnotesHtml(rendering.footnotes)) + restHtml(rest, escapeHtml));
  const { title = titleOf(query), contents } = rendering;
  return { title, parts: html, contents, sources: index.listed };
}

interface PartPosition {
  isFirst: boolean;
  /** Where the next part begins. */
  next: number | undefined;
}

function renderPart(rendering: Rendering, part: TextPart, { isFirst, next }: PartPosition): string {
  const { located, sources, known, meant, contents, idFor, allowance, footnotes } = rendering;
  const end = next ?? part.start + part.text.length - part.repeated.length;
  const md = markdownIt({ html: false, linkify: false, typographer: false });
  // Links are checked in `rewriteLinks`; rejected here, a link would stay in the text as Markdown.
  md.validateLink = () => true;
  addCitations(md, {
    positions: located.positions
      .filter(({ at }) => (at > part.start || isFirst) && at <= end)
      .map(({ at, n }) => ({ n, at: at - part.start + part.repeated.length })),
    known,
    meant,
    numberOf: sources.numberOf,
  });
  addMaths(md, rendering.maths);
  boundInlineParsing(md);
  addRenderingRules(md, { sources: sources.byNumber, allowance, tables: rendering.tables });
  addTaskRule(md);
  const shown = takeDuePictures(rendering, part, next);
  md.core.ruler.push("report", (state) => {
    const { tokens, Token: OneToken } = state;
    const make: MakeToken = (type, tag, nesting) => new OneToken(type, tag, nesting);
    if (isFirst) rendering.title = takeTitle(tokens);
    addHeadingIds(tokens, { contents, idFor });
    rewriteLinks(tokens, { allowance, make, contents, numberOf: sources.numberOf });
    markTasks(tokens, make);
    addDirections(tokens, part.text);
    state.tokens = insertPictures(tokens, shown, make);
  });
  addFootnotes(md, footnotes);
  return md.render(part.text, rendering.env);
}

/** The pictures within this part, with lines relative to it; the last part shows all that are left. */
function takeDuePictures(rendering: Rendering, part: TextPart, next: number | undefined): PicturePosition[] {
  if (rendering.pictures.length === 0) return [];
  const linesBefore = (position: number): number => rendering.located.text.slice(0, position).split("\n").length - 1;
  const last = next === undefined ? Infinity : linesBefore(next);
  const offset = linesBefore(part.start) - (part.repeated.split("\n").length - 1);
  const due = rendering.pictures.filter(({ line }) => line < last);
  rendering.pictures = rendering.pictures.filter(({ line }) => line >= last);
  return due.map(({ n, line }) => ({ n, line: line - offset }));
}

const MAX_DEFINITIONS = 2_000;

/** `[1]: https://…` anywhere in the report defines links of every part. */
function linkDefinitions(text: string): Rendering["env"] {
  const env: Rendering["env"] = {};
  const md: MarkdownIt = markdownIt({ html: false });
  md.validateLink = () => true;
  const lines = text.match(/^ {0,3}\[[^\]\n^][^\]\n]{0,100}\]:[ \t]*\S[^\n]{0,2000}$/gm) ?? [];
  md.parse(lines.slice(0, MAX_DEFINITIONS).join("\n\n"), env);
  return env;
}
