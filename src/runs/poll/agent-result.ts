/**
 * Converts an interaction into a result: its report, its sources numbered as the report cites them, and the response as
 * it is kept.
 */

import type { Interaction } from "../../gemini/research-agent.ts";
import type { Log } from "../../platform/log.ts";
import { unexpectedError } from "../../platform/unexpected-error.ts";
import {
  dropAmbiguousNumbers,
  inferCitationNumbers,
  type ListedSource,
  listedSources,
  marksIn,
} from "../../reports/citations.ts";
import { linkedSources } from "../../reports/document/document.ts";
import { withOneNumberPerPage } from "../../reports/document/numbered.ts";
import { pageKey } from "../../reports/web-address.ts";
import { keepPictures } from "../../reports/pictures/keep.ts";
import { numberSources, type Source } from "../../reports/report.ts";
import { keepSuggestions } from "../../reports/suggestions/keep.ts";
import type { NewResult } from "../run.ts";
import { deflateRawSync } from "node:zlib";
import { isRecord } from "../../platform/is-record.ts";

interface ResultFacts {
  partial: boolean;
  note?: string | undefined;
  warnings?: string[];
}

/** Paid text must be stored even if a bug makes reading its sources fail: then it is kept alone, with a note. */
export function resultOrText(log: Log, interaction: Interaction, facts: ResultFacts): NewResult {
  try {
    return resultOf(interaction, facts);
  } catch (error) {
    const { id, message } = unexpectedError(error);
    log.error(message);
    const lost = `Its sources and pictures could not be read (unexpected error ${id}; see the log). The text is kept as it is.`;
    const note = [facts.note, ...(facts.warnings ?? []), lost].filter((each) => each !== undefined).join(" ");
    const { report, earlierOutputs, rawStatus } = interaction;
    const metadata = { upstream_status: rawStatus, ...withEarlier(earlierOutputs), note };
    return { report, sources: [], metadata, hasWarning: true, partial: facts.partial };
  }
}

export function resultOf(interaction: Interaction, { partial, note, warnings = [] }: ResultFacts): NewResult {
  const { sources, aliases } = citedSources(interaction);
  const byPage = new Map(sources.map((source) => [pageKey(source.url), source.n]));
  const citations = interaction.citations.flatMap(({ sourceIndex, start, end }) => {
    const n = byPage.get(pageKey(interaction.sources[sourceIndex]?.url ?? ""));
    return n === undefined ? [] : [{ n, start, end }];
  });
  const { earlierOutputs, rawStatus } = interaction;
  const { pictures, note: pictureNote } = keepPictures(interaction.pictures);
  const notes = [note, pictureNote, ...warnings].filter((each) => each !== undefined);
  return {
    report: withOneNumberPerPage(interaction.report, aliases),
    sources,
    citations,
    metadata: {
      upstream_status: rawStatus,
      searches: interaction.searches.length,
      ...withEarlier(earlierOutputs),
      ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
    },
    hasWarning: warnings.length > 0,
    partial,
    pictures,
    searchSuggestions: keepSuggestions(interaction.searchSuggestions),
  };
}

const withEarlier = (outputs: readonly string[]) => (outputs.length > 0 ? { earlier_outputs: outputs } : {});

interface CitedSources {
  sources: Source[];
  /** Maps further numbers under which the report cites a page to the page's lowest number. */
  aliases: ReadonlyMap<number, number>;
}

/** Numbers each page as the report does, in its source list or its citation marks, so that the text is unchanged. */
function citedSources(interaction: Interaction): CitedSources {
  const { report, sources } = interaction;
  const titles = new Map(sources.map(({ url, title }) => [pageKey(url), title]));
  const listed = listedSources(report);
  const byPage = new Map<string, ListedSource>();
  const aliases = new Map<number, number>();
  const unambiguous = dropAmbiguousNumbers(listed);
  for (const entry of [...unambiguous, ...markedSources(interaction, unambiguous)].toSorted((a, b) => a.n - b.n)) {
    const known = byPage.get(pageKey(entry.url));
    if (known === undefined) byPage.set(pageKey(entry.url), entry);
    else if (known.n !== entry.n) aliases.set(entry.n, known.n);
  }
  // Sources without a number get one above all numbers in the report, which must keep their meaning.
  let highest = highestMarked(report);
  for (const { n } of listed) highest = Math.max(highest, n);
  for (const { url, title } of [...listed, ...(sources.length > 0 ? sources : linkedSources(report))]) {
    if (!byPage.has(pageKey(url))) byPage.set(pageKey(url), { n: (highest += 1), url, title });
  }
  const inOrder = [...byPage.values()].toSorted((a, b) => a.n - b.n);
  const titled = inOrder.map(({ url, title }) => ({ url, title: titles.get(pageKey(url)) || title }));
  return {
    sources: numberSources(titled).map((source, index) => ({ ...source, n: inOrder[index]?.n ?? source.n })),
    aliases,
  };
}

/** Infers from Google's citations which sources the numbers missing from the report's list refer to. */
function markedSources({ report, sources, citations }: Interaction, listed: readonly ListedSource[]): ListedSource[] {
  const isListed = new Set(listed.map(({ n }) => n));
  const first = new Map<string, number>();
  for (const [index, { url }] of sources.entries()) if (!first.has(pageKey(url))) first.set(pageKey(url), index);
  const ranges = citations.flatMap(({ sourceIndex, start, end }) => {
    const n = first.get(pageKey(sources[sourceIndex]?.url ?? ""));
    return n === undefined ? [] : [{ n, start, end }];
  });
  return [...inferCitationNumbers(report, ranges)].flatMap(([n, index]) => {
    const source = sources[index];
    return source === undefined || isListed.has(n) ? [] : [{ n, url: source.url, title: source.title }];
  });
}

function highestMarked(report: string): number {
  let highest = 0;
  for (const { isGoogleMark, numbers } of marksIn(report)) {
    if (isGoogleMark) for (const n of numbers) highest = Math.max(highest, n);
  }
  return highest;
}

export function packRaw(raw: unknown, redact: (text: string) => string): Uint8Array | undefined {
  if (raw === undefined) return undefined;
  try {
    return deflateRawSync(redact(JSON.stringify(withoutRequest(raw))));
  } catch (error) {
    // Thousands of nesting levels overflow the stack of JSON.stringify. The report is stored without them.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The request that Google may repeat: its input may hold files, the headers of its MCP servers hold secrets. */
function withoutRequest(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { input: _input, tools: _tools, ...response } = raw;
  return withoutOwnFiles(response);
}

function withoutOwnFiles(raw: Record<string, unknown>): unknown {
  if (!Array.isArray(raw["steps"])) return raw;
  const steps = raw["steps"].map((step: unknown) => {
    if (!isRecord(step) || step["type"] !== "user_input" || !Array.isArray(step["content"])) return step;
    return { ...step, content: step["content"].map(withoutData) };
  });
  return { ...raw, steps };
}

function withoutData(part: unknown): unknown {
  if (!isRecord(part) || part["data"] === undefined) return part;
  const { data: _data, ...rest } = part;
  return rest;
}
