/** The part of a stored report that an answer contains: all of it, a section, or its opening and outline, as the client accepts. */

import { z } from "zod";
import { AppError } from "../../errors.ts";
import {
  type OutlineEntry,
  outlineOf,
  PART_CHARACTERS,
  readOpening,
  readSection,
  type Section,
  sectionsOf,
} from "../../reports/sections.ts";
import { marksIn, withoutStartMarks } from "../../reports/citations.ts";
import { lazy } from "../../platform/lazy.ts";
import { createRecent } from "../../platform/recent.ts";
import type { Source } from "../../reports/report.ts";
import type { RunResult } from "../../runs/run.ts";
import type { AnswerLimit, Call } from "../operation.ts";

/** Size as JSON. A message has at most 8 MB and contains the report twice, as text and as data, and a page of sources. */
const MAX_REPORT_BYTES = 2_500_000;
/** Characters, each of up to three bytes, of the texts before the report. */
const MAX_EARLIER_CHARACTERS = 800_000;
const MAX_NAMED_SECTIONS = 40;

interface ReportReading {
  report?: string;
  /** Absent when the report is whole. */
  complete?: boolean;
  section?: string;
  next_section?: string | undefined;
  outline?: OutlineEntry[];
  note?: string;
}

export const readingFields = {
  complete: z.boolean().describe("False when this is not the whole report."),
  section: z.string().describe("The requested section."),
  next_section: z.string().describe("The section to request next."),
  outline: z
    .array(z.looseObject({ section: z.string(), title: z.string(), characters: z.number() }))
    .describe("The sections of a report that is not returned whole; subsections count as part of their section."),
};

/** What an answer has room for. */
export interface Room {
  /** Of the report. */
  maxCharacters: number;
  /** Of a page of sources. Fixed for a client: the second page begins where the first ended. */
  maxSourceCharacters?: number | undefined;
}

/** A report as an answer shows it. */
export interface ShownReport extends Pick<RunResult, "report" | "sources"> {
  earlier_outputs?: string[] | undefined;
}

interface SourcesReading extends ReportReading {
  sources: Source[];
}

type WithReport<Reading> = Reading & { report: string };

/** The report for an answer without a requested section; its URLs are removed before, if its sources are shown. */
export function fittingReport(result: ShownReport, room: Room): WithReport<SourcesReading> {
  const { report, sources } = result;
  const { maxCharacters } = room;
  const isLonger = report.length > maxCharacters;
  const reading = isLonger ? opening(report, { note: READ_ON, maxCharacters }) : wholeReport(report, maxCharacters);
  return withSources(reading, sources, room);
}

const numbered = lazy(() => import("../../reports/document/numbered.ts"));
const documents = lazy(() => import("../../reports/document/document.ts"));

/** Parsing a report takes longer than everything else that an answer with it needs. */
const MAX_KEPT_CHARACTERS = 2_000_000;
const recentReports = createRecent<Pick<RunResult, "report" | "sources" | "citations">>(MAX_KEPT_CHARACTERS);

/** Cites by number, as in the list of sources, and removes URLs that repeat it (U3). */
export async function withUrlsOnce<Result extends RunResult>(result: Result): Promise<Result> {
  const { report, sources, citations = [] } = result;
  const { citeByNumber, numberedMarkdown } = await numbered();
  const { locatedDocument } = await documents();
  const cited = recentReports(`${JSON.stringify([sources, citations])}${report}`, () =>
    citations.length === 0
      ? citeByNumber(report, sources)
      : // The ranges are those of the text as it is stored.
        { report: numberedMarkdown(locatedDocument({ report, sources, citations })), sources, citations: undefined },
  );
  return { ...result, ...cited };
}

function withSources<Reading extends ReportReading>(
  reading: Reading,
  all: Source[],
  { maxCharacters, maxSourceCharacters }: Room,
): Reading & SourcesReading {
  const page = maxCharacters === Infinity ? undefined : sourcePage(all, { number: 1, maxSourceCharacters });
  if (page?.next === undefined) return { ...reading, sources: all };
  const notes = [reading.note, page.note].filter((note) => note !== undefined);
  return { ...reading, next_section: reading.next_section ?? page.next, note: notes.join(" "), sources: page.sources };
}

const READ_ON =
  "This is the beginning of a long report. Read on with its next section, or choose one from the outline.";
const TOO_LONG =
  "The whole report is too long for one answer, but can be saved to a file. This is its beginning; read on with its next section.";

function wholeReport(report: string, maxCharacters: number): WithReport<ReportReading> {
  if (maxCharacters === Infinity || Buffer.byteLength(JSON.stringify(report)) <= MAX_REPORT_BYTES) {
    return { report: withoutStartMarks(report) };
  }
  return opening(report, { note: TOO_LONG, maxCharacters: TOO_LONG_CHARACTERS });
}

/** Of a report that no answer can contain. */
const TOO_LONG_CHARACTERS = 100_000;

function opening(
  report: string,
  { note, maxCharacters }: { note: string; maxCharacters: number },
): WithReport<ReportReading> {
  const sections = sectionsOf(report);
  const { end, next } = readOpening(report, sections, maxCharacters);
  const beginning = withoutStartMarks(report.slice(0, end));
  return { report: beginning, complete: false, next_section: next, outline: outlineOf(sections), note };
}

interface ReadingRequest extends Room {
  section: string | undefined;
}

/** The report by section (K3). A section comes with the sources that it cites. */
export function readReport(result: ShownReport, { section, ...room }: ReadingRequest): SourcesReading {
  const { maxCharacters, maxSourceCharacters } = room;
  if (section === "earlier") return { ...earlierOutputs(result, maxCharacters), section, sources: [] };
  if (section === undefined) return fittingReport(result, room);
  const { report, sources } = result;
  if (section === "all") {
    return withSources(wholeReport(report, maxCharacters), sources, room);
  }
  const sections = sectionsOf(report);
  const page = sourcePageNumber(section);
  if (page !== undefined) {
    return { section, ...sourcesOnly(sources, { number: page, maxSourceCharacters }, sections) };
  }
  if (section === "outline") return { complete: false, outline: outlineOf(sections), sources: [] };
  const found = readSection(report, sections, { wanted: section, maxCharacters });
  if (found === undefined) throw unknownSection(sections);
  const { start, end, next } = found;
  const text = report.slice(start, end);
  const cited = new Set(marksIn(text).flatMap(({ numbers }) => numbers));
  const reading = {
    report: withoutStartMarks(text),
    complete: text.length === report.length,
    section,
    next_section: next,
  };
  const shown = sources.filter(({ n }) => cited.has(n));
  const first = maxCharacters === Infinity ? undefined : sourcePage(shown, { number: 1, maxSourceCharacters });
  if (first?.next === undefined) return { ...reading, sources: shown };
  return { ...reading, note: "Section sources lists all sources.", sources: first.sources };
}

/** The page number of `sources` (the first) or `sources~n`. */
function sourcePageNumber(section: string): number | undefined {
  const match = /^sources(?:~([1-9]\d{0,5}))?$/.exec(section);
  return match === null ? undefined : Number(match[1] ?? 1);
}

function sourcesOnly(sources: Source[], wanted: WantedPage, sections: Section[]): SourcesReading {
  const page = sourcePage(sources, wanted);
  if (page === undefined) throw unknownSection(sections);
  const { next, note } = page;
  return { complete: false, next_section: next, ...(note === undefined ? {} : { note }), sources: page.sources };
}

/** Texts that Google returned before the report; they were paid for, but are not part of the report. */
function earlierOutputs({ report: text, earlier_outputs: outputs }: ShownReport, maxCharacters: number): ReportReading {
  if (outputs === undefined) throw unknownSection(sectionsOf(text));
  const whole = outputs.join("\n\n---\n\n");
  const note = "Written before the report, and not part of it.";
  if (maxCharacters === Infinity || whole.length <= MAX_EARLIER_CHARACTERS) {
    return { report: whole, complete: false, note };
  }
  const report = whole.slice(0, MAX_EARLIER_CHARACTERS).toWellFormed();
  const cut = `These are the first ${report.length} of ${whole.length} characters; the command line prints all: gemini-search-mcp show <run> --section earlier`;
  return { report, complete: false, note: `${note} ${cut}` };
}

function unknownSection(sections: Section[]): AppError {
  const names = outlineOf(sections).map(({ section }) => section);
  return new AppError({
    code: "INVALID_INPUT",
    message: "This report has no such section.",
    next: [{ do: "read", section: "outline" }],
    details: {
      status: 400,
      field: "section",
      sections: [...names.slice(0, MAX_NAMED_SECTIONS), ...(names.length > MAX_NAMED_SECTIONS ? ["…"] : [])].join(", "),
    },
  });
}

const MAX_SOURCES = 500;
const MAX_CHARACTERS = 400_000;

interface SourcePage {
  sources: Source[];
  /** The `section` of the next page. */
  next: string | undefined;
  note: string | undefined;
}

interface WantedPage {
  /** From 1. */
  number: number;
  maxSourceCharacters?: number | undefined;
}

/** Undefined if there is no such page. */
function sourcePage(
  sources: readonly Source[],
  { number, maxSourceCharacters = MAX_CHARACTERS }: WantedPage,
): SourcePage | undefined {
  let start = 0;
  for (let page = 1; page < number; page += 1) {
    start = pageEnd(sources, start, maxSourceCharacters);
    if (start >= sources.length) return undefined;
  }
  const end = pageEnd(sources, start, maxSourceCharacters);
  const next = end < sources.length ? `sources~${number + 1}` : undefined;
  const note =
    next === undefined
      ? undefined
      : `Sources ${start + 1} to ${end} of ${sources.length}: read on with section ${next}.`;
  return { sources: sources.slice(start, end), next, note };
}

/** Index after the last source of the page; a page has at least one source, however long. */
function pageEnd(sources: readonly Source[], start: number, maxCharacters: number): number {
  let characters = 0;
  let end = start;
  while (end < sources.length && end - start < MAX_SOURCES) {
    const { title, url, resolved_url: resolved = "" } = sources[end] ?? { title: "", url: "" };
    characters += title.length + url.length + resolved.length;
    if (characters > maxCharacters && end > start) return end;
    end += 1;
  }
  return end;
}

/** For a client whose limit is not known. */
export const DEFAULT_LIMIT: AnswerLimit = { max: 100_000 };

const WHOLE: AnswerLimit = { max: Infinity };

export const limitOf = ({ wholeReports, answerLimit }: Pick<Call, "wholeReports" | "answerLimit">): AnswerLimit =>
  wholeReports === true ? WHOLE : (answerLimit ?? DEFAULT_LIMIT);

/** What `perform` adds to an answer, and a little more. */
const MARGIN = 500;
/** The share of an answer that its list of sources may take. */
const SOURCES_SHARE = 1 / 4;

/** Builds the answer with less and less of the report until the client accepts it; a part of it is always there. */
export function fitAnswer<Answer extends object>(
  { max, sizeOf }: AnswerLimit,
  { build, toText }: { build: (room: Room) => Answer; toText: (answer: Answer) => string },
): Answer {
  if (sizeOf === undefined) return build({ maxCharacters: max });
  const maxSourceCharacters = Math.floor(max * SOURCES_SHARE);
  let maxCharacters = max;
  for (;;) {
    const answer = build({ maxCharacters, maxSourceCharacters });
    const excess = sizeOf({ text: toText(answer), structured: answer }) + MARGIN - max;
    if (excess <= 0 || maxCharacters <= PART_CHARACTERS) return answer;
    maxCharacters = Math.max(PART_CHARACTERS, maxCharacters - excess);
  }
}
