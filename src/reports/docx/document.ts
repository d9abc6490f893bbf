/**
 * Renders a report as a Word document (DOCX): real headings, lists, tables and footnotes, and citations that lead to the
 * numbered sources. Formulas are readable text, which every program shows.
 */

import { setImmediate } from "node:timers/promises";
import {
  AlignmentType,
  Bookmark,
  BorderStyle,
  Document,
  ExternalHyperlink,
  Footer,
  HeadingLevel,
  LineRuleType,
  Packer,
  PageNumber,
  Paragraph,
  type Table,
  TextRun,
} from "docx";
import { createMathsBudget } from "../document/mathml.ts";
import { createPrepared, prepareParts } from "../document/prepared.ts";
import type { CitedSource } from "../document/sources.ts";
import { recognisedLanguage } from "../language.ts";
import { redirectRemark } from "../link-expiry.ts";
import { type EmbeddingFile, longDate, onOneLine, partialText, reportFacts, titleOfFile } from "../report-facts.ts";
import { readSuggestions } from "../suggestions/chips.ts";
import { blocksOf } from "./blocks.ts";
import { directionOf, LINE, MONOSPACE, plainParagraph, SOFT, textParagraph, textRun, type Writing } from "./runs.ts";

export async function renderDocx(request: EmbeddingFile): Promise<Buffer> {
  const { query, sources, endedAt, metadata, further, includeSources = true } = request;
  const writing: Writing = {
    prepared: createPrepared(further?.listed ?? sources),
    pictures: new Map((request.pictures ?? []).map((picture) => [picture.n, picture])),
    maths: createMathsBudget(),
    bookmarks: new Map(),
    notes: new Map(),
    lists: 0,
  };
  const body: (Paragraph | Table)[] = [];
  for (const text of [request, ...(further?.texts ?? [])]) {
    const { parts, rest } = prepareParts(writing.prepared, text);
    for (const { tokens } of parts) {
      body.push(...blocksOf(tokens, writing));
      // Lets other requests proceed.
      await setImmediate();
    }
    for (const line of rest.trim() === "" ? [] : rest.split("\n")) body.push(plainParagraph(line, { style: "Code" }));
  }
  const { sources: listed } = writing.prepared;
  const title = titleOfFile(request, writing.prepared.title);
  const partial = partialText(request);
  const facts = metadata === undefined ? [] : reportFacts(metadata, { query, sources: sources.length });
  const language = recognisedLanguage(request.report) ?? "en";
  return Packer.toBuffer(
    new Document({
      title,
      creator: "gemini-search-mcp",
      ...(metadata === undefined ? {} : { description: metadata.taskId }),
      styles: stylesIn(language),
      footnotes: footnotesOf(writing),
      sections: [
        {
          footers: { default: new Footer({ children: [pageNumber()] }) },
          children: [
            ...(partial === undefined ? [] : [plainParagraph(`PARTIAL: ${partial}`, { style: "Warning" })]),
            plainParagraph(title, { heading: HeadingLevel.TITLE }),
            ...(endedAt === undefined ? [] : [plainParagraph(longDate(endedAt), { style: "Date" })]),
            ...(metadata?.note === undefined ? [] : [plainParagraph(metadata.note, { style: "Quote" })]),
            ...body,
            ...suggestionList(request.searchSuggestions),
            ...(includeSources ? sourceList(listed.listed, endedAt) : []),
            ...factList(facts),
          ],
        },
      ],
    }),
  );
}

const FONT = "Calibri";
const LINK = "0B57B8";
const HEADING = "1F3864";
const QUIET = "55595F";

const headingStyle = (halfPoints: number) => ({
  run: { font: FONT, size: halfPoints, bold: true, color: HEADING },
  paragraph: { spacing: { before: 280, after: 100 }, keepNext: true, keepLines: true },
});

function stylesIn(language: string) {
  const tag = wholeTag(language);
  const quiet = { size: 19, color: QUIET };
  const named = (id: string, name: string) => ({ id, name, basedOn: "Normal", quickFormat: true });
  return {
    default: {
      document: {
        run: { font: FONT, size: 22, language: { value: tag, eastAsia: tag, bidirectional: tag } },
        paragraph: { spacing: { after: 140, line: 276, lineRule: LineRuleType.AUTO } },
      },
      title: { run: { font: FONT, size: 44, bold: true, color: HEADING }, paragraph: { spacing: { after: 80 } } },
      heading1: headingStyle(30),
      heading2: headingStyle(26),
      heading3: headingStyle(24),
      heading4: headingStyle(22),
      heading5: headingStyle(22),
      footnoteText: { run: { size: 19 } },
    },
    paragraphStyles: [
      { ...named("Date", "Date"), run: { color: QUIET }, paragraph: { spacing: { after: 320 } } },
      {
        ...named("Quote", "Quote"),
        run: { italics: true, color: QUIET },
        paragraph: {
          indent: { start: 360 },
          border: { left: { style: BorderStyle.SINGLE, size: 18, space: 8, color: LINE } },
        },
      },
      {
        ...named("Code", "Code"),
        run: { font: MONOSPACE, size: 19 },
        paragraph: { shading: { fill: SOFT }, spacing: { after: 0, line: 250, lineRule: LineRuleType.AUTO } },
      },
      { ...named("Formula", "Formula"), paragraph: { alignment: AlignmentType.CENTER } },
      { ...named("Warning", "Warning"), run: { bold: true, color: "8A4B00" } },
      { ...named("Source", "Source"), paragraph: { indent: { start: 500, hanging: 500 }, spacing: { after: 80 } } },
      { ...named("Facts", "Facts"), run: quiet, paragraph: { spacing: { after: 20 } } },
      {
        ...named("TableText", "Table Text"),
        run: { size: 20 },
        paragraph: { spacing: { after: 20, line: 250, lineRule: LineRuleType.AUTO } },
      },
    ],
    characterStyles: [{ id: "Hyperlink", name: "Hyperlink", basedOn: "DefaultParagraphFont", run: { color: LINK } }],
  };
}

/** Word expects a region: `de` is `de-DE`. */
function wholeTag(language: string): string {
  const { language: base, region } = new Intl.Locale(language).maximize();
  return region === undefined ? base : `${base}-${region}`;
}

const pageNumber = (): Paragraph =>
  new Paragraph({
    alignment: AlignmentType.CENTER,
    children: [new TextRun({ children: [PageNumber.CURRENT], color: QUIET, size: 19 })],
  });

const footnotesOf = (writing: Writing): Record<string, { children: Paragraph[] }> =>
  // A note may refer to another one, which is then added to the end of what is walked.
  Object.fromEntries(
    Array.from(writing.notes.values(), ({ id, inline }) => [
      id,
      { children: [textParagraph(inline, { style: "FootnoteText" }, writing)] },
    ]),
  );

const SMALL = { size: 16 };

/** Google's terms ask that they are shown with the answer; a deep research has dozens. */
function suggestionList(received: readonly string[] = []): Paragraph[] {
  const { chips } = readSuggestions(received);
  if (chips.length === 0) return [];
  const links = chips.flatMap(({ query, url }, index) => [
    ...(index === 0 ? [] : [textRun(" · ", SMALL)]),
    new ExternalHyperlink({ link: url, children: [textRun(query, { style: "Hyperlink", ...SMALL })] }),
  ]);
  return [new Paragraph({ children: [textRun("Google Search Suggestions: ", { bold: true, ...SMALL }), ...links] })];
}

function sourceList(sources: readonly CitedSource[], endedAt: number | undefined): Paragraph[] {
  if (sources.length === 0) return [];
  const heading = plainParagraph("Sources", { heading: HeadingLevel.HEADING_1 });
  return [heading, ...sources.map((source) => sourceParagraph(source, endedAt))];
}

function sourceParagraph({ n, also = [], title, domain, url }: CitedSource, endedAt: number | undefined): Paragraph {
  const numbers = [n, ...also].map((one) => `[${one}]`).join(" ");
  const label = textRun(title, url === undefined ? {} : { style: "Hyperlink" });
  const remarks = url === undefined ? [] : redirectRemark({ url }, endedAt);
  const site = [domain === title ? "" : domain, ...remarks].filter((part) => part !== "").join(", ");
  // A redirect link is long, says nothing, and expires.
  const address = url === undefined || remarks.length > 0 ? [] : [textRun(url, { break: 1, color: QUIET, size: 18 })];
  return new Paragraph({
    style: "Source",
    ...directionOf(title),
    children: [
      new Bookmark({ id: `source-${n}`, children: [textRun(`${numbers} `, { bold: true })] }),
      url === undefined ? label : new ExternalHyperlink({ link: url, children: [label] }),
      ...(site === "" ? [] : [textRun(` (${site})`)]),
      ...address,
    ],
  });
}

function factList(facts: readonly [string, string][]): Paragraph[] {
  if (facts.length === 0) return [];
  return [
    plainParagraph("About this report", { heading: HeadingLevel.HEADING_1 }),
    ...facts.map(
      ([name, value]) =>
        new Paragraph({
          style: "Facts",
          children: [textRun(`${name}: `, { bold: true }), textRun(onOneLine(value))],
        }),
    ),
  ];
}
