import { Parser } from "htmlparser2";
import { expect, test } from "vitest";
import { pngOf } from "../../../test/kit/browser/pictures.ts";
import { LONG_REPORT, SOURCE_LIST, SOURCES } from "../../../test/kit/browser/sample-report.ts";
import { unzip } from "../../../test/kit/unzip.ts";
import type { EmbeddingFile } from "../report-facts.ts";
import { renderDocx } from "./document.ts";

const REPORT = `# Lake & *Onda*

A fact [1], \`code <b>\` and [a page](https://example.org/?a=1&b=2), see [below](#numbers).

## Numbers

| Year | Depth |
| --- | ---: |
| 2025 | **42** m [2] |

3. three
   - nested
4. four

> Quoted[^n].

$$\\eta = \\frac{T_h - 1}{2}$$

\`\`\`
a
  b
\`\`\`

הטקסט

[^n]: The note.

Sources:
1. [One](https://one.example/)
2. [Two](https://vertexaisearch.cloud.google.com/x)`;

const request = (over: Partial<EmbeddingFile> = {}): EmbeddingFile => ({
  query: "How deep is it?",
  report: REPORT,
  sources: [
    { n: 1, title: "One", url: "https://one.example/", domain: "one.example" },
    { n: 2, title: "two.example", url: "https://vertexaisearch.cloud.google.com/x", domain: "two.example" },
  ],
  citations: [],
  partial: undefined,
  endedAt: Date.parse("2026-11-05T04:15:32Z"),
  metadata: undefined,
  ...over,
});

async function partsOf(over: Partial<EmbeddingFile> = {}): Promise<(name: string) => string> {
  const files = unzip(await renderDocx(request(over)));
  for (const [name, content] of files) if (/\.(?:xml|rels)$/.test(name)) expectWellFormed(content.toString());
  return (name) => files.get(name)?.toString() ?? "";
}

/** Every element is closed where it was opened, and no character is left that XML forbids. */
function expectWellFormed(xml: string): void {
  const open: string[] = [];
  for (const [, close, name = "", isEmpty] of xml.matchAll(/<(\/?)([\w:]+)(?:"[^"]*"|[^">])*?(\/?)>/g)) {
    if (close === "/") expect(open.pop()).toBe(name);
    else if (isEmpty !== "/") open.push(name);
  }
  expect(open).toEqual([]);
  // oxlint-disable-next-line no-control-regex -- they are what is sought
  expect(xml).not.toMatch(/[\0-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|&(?!\w+;|#)/);
}

/** Its paragraphs as `style: text`. */
function paragraphsIn(xml: string): string[] {
  const paragraphs: string[] = [];
  let isText = false;
  const write = (text: string): void => void (paragraphs[paragraphs.length - 1] += text);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        isText = name === "w:t";
        if (name === "w:p") paragraphs.push("");
        if (name === "w:pStyle") write(`${attributes["w:val"]}: `);
        if (name === "w:br") write("⏎");
      },
      ontext: (text) => void (isText && write(text)),
      onclosetag: () => void (isText = false),
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return paragraphs.filter((text) => text !== "");
}

test("a Word document has the title, the date, the text and the sources, each in its style (N7)", async () => {
  const part = await partsOf();
  expect(paragraphsIn(part("word/document.xml"))).toEqual([
    "Title: Lake & Onda",
    "Date: 5 November 2026",
    "A fact[1], code <b> and a page, see below.",
    "Heading1: Numbers",
    "TableText: Year",
    "TableText: Depth",
    "TableText: 2025",
    "TableText: 42 m[2]",
    "ListParagraph: three",
    "ListParagraph: nested",
    "ListParagraph: four",
    "Quote: Quoted.",
    "Formula: η = (T_h − 1)/2",
    "Code: a⏎  b",
    "הטקסט",
    "Heading1: Sources",
    "Source: [1] One (one.example)⏎https://one.example/",
    "Source: [2] two.example (redirect link, expires 2026-12-05)",
  ]);
  expect(paragraphsIn(part("word/footnotes.xml"))).toContain("FootnoteText: The note.");
});

test("its citations lead to the sources, its tables have header rows, its lists their numbers (N7)", async () => {
  const part = await partsOf();
  const xml = part("word/document.xml");
  const anchors = [...xml.matchAll(/<w:hyperlink[^>]* w:anchor="([^"]+)"/g)].map(([, anchor]) => anchor);
  const bookmarks = [...xml.matchAll(/<w:bookmarkStart[^>]* w:name="([^"]+)"/g)].map(([, name]) => name);
  expect(anchors).toEqual(["source-1", "section-1", "source-2"]);
  expect(bookmarks).toEqual(expect.arrayContaining(anchors));
  expect(xml.match(/<w:tblHeader\/>/g)).toHaveLength(1);
  expect(xml).toMatch(/<w:bidi\/>[^]*<w:rtl\/>[^]*הטקסט/);
  expect(part("word/numbering.xml")).toMatch(/<w:start w:val="3"\/><w:numFmt w:val="decimal"\/>/);
  expect(part("word/_rels/document.xml.rels")).toContain('Target="https://example.org/?a=1&amp;b=2"');
  expect(part("docProps/core.xml")).toContain("<dc:title>Lake &amp; Onda</dc:title>");
});

test("it has the language of the report, and says that it is partial (N7)", async () => {
  const report =
    "Die Wärmepumpe ist auch im Winter nicht schlechter, und sie wird mit der Zeit besser als eine Heizung.";
  const part = await partsOf({ report, partial: "cancelled", reason: "Stopped." });
  expect(part("word/styles.xml")).toContain('<w:lang w:val="de-DE"');
  expect(paragraphsIn(part("word/document.xml")).slice(0, 2)).toEqual([
    "Warning: PARTIAL: this run ended as cancelled before its report was complete. Stopped.",
    "Title: How deep is it?",
  ]);
});

test("pictures are in it with a description; Word shows no WebP, so that one is mentioned (N7)", async () => {
  const content = pngOf(1_200, 600);
  const facts = { width: 1_200, height: 600, byteLength: content.length, hash: "h", content };
  const part = await partsOf({
    pictures: [
      { ...facts, n: 1, mimeType: "image/png", offset: REPORT.indexOf("## Numbers") },
      { ...facts, n: 2, mimeType: "image/webp", offset: REPORT.length },
    ],
  });
  const xml = part("word/document.xml");
  expect(xml).toMatch(/<wp:extent cx="5715000" cy="2857500"\/>[^]*<wp:docPr [^>]*descr="Picture 1"/);
  expect(paragraphsIn(xml)).toContain("Quote: Picture 2 (WEBP, 1200 × 600, 1 KB) is not part of this file.");
});

test("hostile text is text, and any report makes a document (N7, T5)", async () => {
  const hostile = 'a\u0000b <w:p>&amp; ]]> \uD800 [x](javascript:alert(1)) ![i](https://x.example/"onload=") </w:t>';
  const part = await partsOf({ report: hostile, query: "\u0007<q>", sources: [] });
  expect(paragraphsIn(part("word/document.xml")).at(-1)).toContain("<w:p>& ]]>");
  expect(part("word/_rels/document.xml.rels")).not.toContain("javascript:");
  const long = await partsOf({ report: `${LONG_REPORT}\n\n${SOURCE_LIST}`, sources: SOURCES });
  expect(long("word/document.xml").match(/w:anchor="source-/g)?.length).toBeGreaterThan(10);
});
