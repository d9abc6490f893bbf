/** Renders a report as safe HTML, part by part: Markdown without raw HTML, then an allow-list. */

import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import markdownIt from "markdown-it";
import type { DocumentPart } from "../document/document.ts";
import { type Allowance, createMathsBudget } from "../document/mathml.ts";
import { restHtml } from "../document/parts.ts";
import { createPrepared, prepareParts, type Prepared } from "../document/prepared.ts";
import { addTaskRule, type ContentsEntry } from "../document/presentation.ts";
import type { CitedSource } from "../document/sources.ts";
import { type PictureSource, showPictures } from "../pictures/html.ts";
import type { ReportText } from "../further-text.ts";
import { type ReportFile, titleOf } from "../report-facts.ts";
import { allowedHtml } from "./allowed.ts";
import { addFootnotes, addMaths, addRenderingRules, type Footnotes, footnotesHtml, takeNotes } from "./rules.ts";

export interface HtmlRequest extends ReportText, Pick<ReportFile, "further"> {
  query: string;
  /** For a document that embeds its pictures. */
  pictureSource?: PictureSource | undefined;
}

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

/** What the parts of a report share. */
interface Rendering {
  prepared: Prepared;
  maths: Allowance;
  footnotes: Footnotes;
  tables: { count: number };
}

function* renderParts(request: HtmlRequest): Generator<undefined, ReportParts> {
  const { query, sources, pictures = [], further } = request;
  const prepared = createPrepared(further?.listed ?? sources);
  const rendering: Rendering = { prepared, maths: createMathsBudget(), footnotes: new Map(), tables: { count: 0 } };
  const html: string[] = [];
  const finish = (unsafe: string): string => showPictures(allowedHtml(unsafe), pictures, request.pictureSource);
  const { escapeHtml } = markdownIt().utils;
  const append = (more: string): void => void html.push((html.pop() ?? "") + more);
  for (const text of [request, ...(further?.texts ?? [])]) {
    const { parts, rest } = prepareParts(prepared, text);
    for (const part of parts) {
      html.push(finish(renderPart(rendering, part)));
      yield;
    }
    append(restHtml(rest, escapeHtml));
  }
  append(finish(footnotesHtml(rendering.footnotes)));
  const { title = titleOf(query), contents } = prepared;
  return { title, parts: html, contents, sources: prepared.sources.listed };
}

function renderPart({ prepared, maths, footnotes, tables }: Rendering, part: DocumentPart): string {
  const { md, tokens, env } = part;
  addMaths(md, maths);
  addRenderingRules(md, { sources: prepared.sources.byNumber, allowance: prepared.allowance, tables });
  addTaskRule(md);
  addFootnotes(md, footnotes);
  return md.renderer.render(takeNotes(tokens, part, footnotes), md.options, env);
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
