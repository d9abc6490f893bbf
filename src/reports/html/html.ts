/** Renders a report as safe HTML, part by part: Markdown without raw HTML, then an allow-list. */

import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import markdownIt from "markdown-it";
import type { CitedRange } from "../citations.ts";
import { type DocumentPart, locatedDocument, numbersByUrl, parseParts } from "../document/document.ts";
import { restHtml } from "../document/parts.ts";
import { allowedHtml } from "./allowed.ts";
import {
  addFootnotes,
  addMaths,
  addRenderingRules,
  createMathsBudget,
  type Footnotes,
  footnotesHtml,
  type MathsBudget,
  takeNotes,
} from "./rules.ts";
import { type CitedSource, indexSources, nameSource, type SourceIndex } from "./sources.ts";
import {
  addDirections,
  addHeadingIds,
  addTaskRule,
  type Allowance,
  type ContentsEntry,
  createIds,
  markTasks,
  rewriteLinks,
  takeTitle,
} from "./tokens.ts";
import { insertPictures, type PictureSource, showPictures } from "../pictures/html.ts";
import type { PictureFacts } from "../pictures/picture.ts";
import { locatePictures, type PicturePosition } from "../pictures/positions.ts";
import { titleOf } from "../report-facts.ts";
import type { Source } from "../report.ts";

export interface HtmlRequest {
  report: string;
  query: string;
  sources: readonly Source[];
  /** In addition to the citations written in the text. */
  citations?: readonly CitedRange[] | undefined;
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
  text: string;
  pictures: PicturePosition[];
  sources: SourceIndex;
  numberOf: (url: string) => number | undefined;
  allowance: Allowance;
  maths: MathsBudget;
  footnotes: Footnotes;
  contents: ContentsEntry[];
  idFor: (title: string) => string;
  tables: { count: number };
  title: string | undefined;
}

function* renderParts(request: HtmlRequest): Generator<undefined, ReportParts> {
  const { report, query, sources, pictures = [] } = request;
  const document = locatedDocument(request);
  const rendering: Rendering = {
    text: document.text,
    pictures: locatePictures(report, pictures),
    sources: indexSources(sources),
    numberOf: numbersByUrl(sources),
    allowance: { characters: MAX_ADDED_CHARACTERS },
    maths: createMathsBudget(),
    footnotes: new Map(),
    contents: [],
    idFor: createIds(),
    tables: { count: 0 },
    title: undefined,
  };
  const { parts, rest } = parseParts(document);
  const html: string[] = [];
  const finish = (unsafe: string): string => showPictures(allowedHtml(unsafe), pictures, request.pictureSource);
  for (const part of parts) {
    html.push(finish(renderPart(rendering, part)));
    yield;
  }
  const { escapeHtml } = markdownIt().utils;
  html.push((html.pop() ?? "") + finish(footnotesHtml(rendering.footnotes)) + restHtml(rest, escapeHtml));
  const { title = titleOf(query), contents } = rendering;
  return { title, parts: html, contents, sources: rendering.sources.listed };
}

function renderPart(rendering: Rendering, part: DocumentPart): string {
  const { sources, numberOf, contents, idFor, allowance, footnotes } = rendering;
  const { md, tokens, env } = part;
  addMaths(md, rendering.maths);
  addRenderingRules(md, { sources: sources.byNumber, allowance, tables: rendering.tables });
  addTaskRule(md);
  addFootnotes(md, footnotes);
  if (part.isFirst) rendering.title = takeTitle(tokens);
  addHeadingIds(tokens, { contents, idFor });
  rewriteLinks(tokens, { allowance, contents, numberOf, onLink: (link) => nameSource(sources, link) });
  markTasks(tokens);
  addDirections(tokens, part.text);
  const shown = takeNotes(insertPictures(tokens, takeDuePictures(rendering, part)), part, footnotes);
  return md.renderer.render(shown, md.options, env);
}

/** The pictures within this part, with lines relative to it; the last part shows all that are left. */
function takeDuePictures(rendering: Rendering, { start, repeated, next }: DocumentPart): PicturePosition[] {
  if (rendering.pictures.length === 0) return [];
  const linesBefore = (position: number): number => rendering.text.slice(0, position).split("\n").length - 1;
  const last = next === undefined ? Infinity : linesBefore(next);
  const offset = linesBefore(start) - (repeated.split("\n").length - 1);
  const due = rendering.pictures.filter(({ line }) => line < last);
  rendering.pictures = rendering.pictures.filter(({ line }) => line >= last);
  return due.map(({ n, line }) => ({ n, line: line - offset }));
}

// Cache of recently rendered reports.

type Render = (request: HtmlRequest) => Promise<ReportParts>;

/** A few of the longest reports, many of the usual ones. */
const MAX_CACHED_CHARACTERS = 8_000_000;

export const cachedReportParts: Render = createHtmlCache(renderReportParts, MAX_CACHED_CHARACTERS);

/** Keyed by content, not by run, because the report of a run can change. */
export function createHtmlCache(render: Render, maxCharacters: number): Render {
  const kept = new Map<string, { report: ReportParts; characters: number }>();
  /** A page requests the parts of a report at once; it is rendered only once. */
  const rendering = new Map<string, Promise<ReportParts>>();
  let characters = 0;
  const forget = (key: string): void => {
    characters -= kept.get(key)?.characters ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, report: ReportParts): void => {
    // Re-inserting moves the entry to the end, so the first key is the least recently used one.
    forget(key);
    const size = JSON.stringify([report.sources, report.contents]).length;
    const added = report.parts.reduce((sum, { length }) => sum + length, size);
    kept.set(key, { report, characters: added });
    characters += added;
    for (const oldest of kept.keys()) {
      if (characters <= maxCharacters) break;
      forget(oldest);
    }
  };
  return async (request) => {
    const key = keyOf(request);
    const known = kept.get(key)?.report;
    const started = known === undefined ? (rendering.get(key) ?? render(request)) : Promise.resolve(known);
    if (known === undefined) rendering.set(key, started);
    try {
      const report = await started;
      keep(key, report);
      return report;
    } finally {
      rendering.delete(key);
    }
  };
}

const keyOf = ({ report, query, sources, citations = [], pictures = [] }: HtmlRequest): string =>
  hash("sha256", JSON.stringify([report, query, sources, citations, pictures]), "base64");
