import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outlineOf, PART_CHARACTERS, readOpening, readSection, type Section, sectionsOf } from "./sections.ts";

const MAX = 30_000;

const names = (report: string): string[] => sectionsOf(report).map(({ section, title }) => `${section} ${title}`);

const paragraphs = (characters: number): string => "Some words of a paragraph.\n\n".repeat(characters / 28);

/** Follows `next` from a first piece to the end, as a reader does. */
function readOn(
  report: string,
  sections: Section[],
  { first, max = () => MAX }: { first: { start: number; end: number; next: string | undefined }; max?: () => number },
) {
  const pieces = [report.slice(first.start, first.end)];
  for (let { next } = first; next !== undefined;) {
    const reading = readSection(report, sections, { wanted: next, maxCharacters: max() });
    if (reading === undefined) throw new Error(`${next} cannot be read`);
    pieces.push(report.slice(reading.start, reading.end));
    next = reading.next;
  }
  return pieces;
}

describe("the outline", () => {
  test("numbers headings by their nesting, whatever their level marks (K3)", () => {
    const report = "Before.\n\n# One\ntext\n### Deep\n## Less deep\n# Two ##\n#### C#\n";
    expect(names(report)).toEqual(["0 Introduction", "1 One", "1.1 Deep", "1.2 Less deep", "2 Two", "2.1 C#"]);
  });

  test("takes a single top heading as the title of the report (K3)", () => {
    expect(names("# **Heat pumps**\n\nIn short.\n\n## Costs\n### Abroad\n## Noise\n")).toEqual([
      "0 Heat pumps",
      "1 Costs",
      "1.1 Abroad",
      "2 Noise",
    ]);
    expect(names("\n\n# Only one\ntext")).toEqual(["1 Only one"]);
  });

  test("ignores headings inside code blocks (K3)", () => {
    const report =
      "# A\n```sh\n# no\n~~~\n````\n# B\n~~~~ text\n# no\n~~~\n~~~~~\n# C\n``` not `a fence\n# D\n#no\n    # no\n";
    expect(names(report)).toEqual(["1 A", "2 B", "3 C", "4 D"]);
  });

  test("divides a report without headings into parts of about 20,000 characters, cut after paragraphs (K3)", () => {
    const report = paragraphs(70_000);
    const sections = sectionsOf(report);
    expect(sections.map(({ title }) => title)).toEqual([1, 2, 3, 4].map((n) => `Part ${n} of 4`));
    for (const { start } of sections) expect(report.slice(0, start)).toMatch(/^$|\n\n$/);
    for (const { start, end } of sections.slice(0, -1)) expect(end - start).toBeGreaterThan(19_000);
  });

  test("is as deep as fits, and never longer than 200 entries (K3)", () => {
    const deep = Array.from({ length: 150 }, (_, n) => `# ${n}\n## a\n`).join("");
    expect(outlineOf(sectionsOf(deep))).toHaveLength(150);
    expect(outlineOf(sectionsOf("# a\n".repeat(5_000)))).toHaveLength(200);
  });
});

describe("reading by sections", () => {
  test("opens with the whole sections that fit, and names the next (K3)", () => {
    const report = `# A\n${paragraphs(17_000)}# B\n${paragraphs(8_000)}# C\n${paragraphs(17_000)}`;
    const sections = sectionsOf(report);
    const opening = readOpening(report, sections, MAX);
    expect(opening).toEqual({ start: 0, end: report.indexOf("# C"), next: "3+" });
  });

  test("divides a section too long for one answer at fixed places, of which an answer takes as many as fit (K3)", () => {
    const report = `# A\n${paragraphs(68_000)}# B\nend`;
    const sections = sectionsOf(report);
    const read = (wanted: string, maxCharacters = MAX) => readSection(report, sections, { wanted, maxCharacters });
    const first = readOpening(report, sections, MAX);
    expect(first).toMatchObject({ start: 0, next: "1~4+" });
    expect(report.slice(0, first.end)).toMatch(/\n\n$/);
    expect(read("1")).toEqual({ ...first, next: "1~4" });
    expect(read("1~4")).toMatchObject({ start: first.end, next: "1~7" });
    expect(read("1~7")).toMatchObject({ end: report.indexOf("# B"), next: "2+" });
    expect(read("1~7+")).toMatchObject({ end: report.length, next: undefined });
    // Another client takes other steps over the same places.
    expect(read("1~4", 12_000)).toMatchObject({ start: first.end, next: "1~5" });
    expect(read("1", 100_000)).toMatchObject({ start: 0, end: report.indexOf("# B"), next: "2+" });
    for (const wrong of ["1~8", "1~0", "3", "", "~1", "1~", "x", "__proto__", "1.", "1~99999999", "3+", "+", "1+~2"]) {
      expect(read(wrong)).toBeUndefined();
    }
  });

  test("fills an answer with parts of a section that is far too long for it (K3)", () => {
    const report = `# A\n${paragraphs(28_000)}# B\n## C\n${paragraphs(84_000)}# D\n`;
    const sections = sectionsOf(report);
    const { end, next } = readOpening(report, sections, 95_000);
    expect(end).toBeGreaterThan(85_000);
    expect(next).toMatch(/^2~\d\+$/);
  });

  test("opens with subsections if the next section is far too long (K3)", () => {
    const report = `Short.\n# A\n## B\n${paragraphs(17_000)}## C\n${paragraphs(50_000)}# D\n`;
    expect(readOpening(report, sectionsOf(report), MAX)).toEqual({
      start: 0,
      end: report.indexOf("## C"),
      next: "1.2+",
    });
  });

  test("returns as many sections at once as fit: a long report in few calls (K3)", () => {
    const report = Array.from({ length: 34 }, (_, n) => `## Part ${n}\n${paragraphs(3_500)}`).join("");
    const sections = sectionsOf(report);
    const pieces = readOn(report, sections, { first: readOpening(report, sections, MAX) });
    expect(pieces.join("")).toBe(report);
    expect(pieces.length).toBeLessThanOrEqual(Math.ceil(report.length / MAX) + 1);
  });

  const line = fc.oneof(
    fc.constantFrom("# One", "## Two", "### Three", "```", "~~~", "", "#", "####### no", " # x", "\r"),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.integer({ min: 1, max: 60_000 }).map((length) => "wörd \u{1F600}".repeat(length / 7)),
    // Contains neither a space nor a safe position to cut at.
    fc.integer({ min: 25_000, max: 60_000 }).map((length) => `a${"\u{1F600}".repeat(length)}`),
  );
  const reports = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n"));

  const rooms = [MAX, 1, PART_CHARACTERS, 17_000];
  let turn = 0;

  test("yields the whole report, one by one or in sequence, without a part that is too long (K3)", () => {
    fc.assert(
      fc.property(reports, (report) => {
        const sections = sectionsOf(report);
        const [first] = sections;
        expect(
          sections
            .filter(({ level }) => level === 1)
            .map(({ start, end }) => report.slice(start, end))
            .join(""),
        ).toBe(report);
        for (const [index, { start, end }] of sections.entries()) {
          expect(end > start || report === "").toBe(true);
          expect(sections[index + 1]?.start ?? report.length).toBeLessThanOrEqual(end);
        }
        const wanted = first?.section ?? "";
        const whole = { wanted: `${wanted}+`, maxCharacters: MAX };
        for (const opening of [readOpening(report, sections, MAX), readSection(report, sections, whole)]) {
          const pieces = readOn(report, sections, {
            first: opening ?? { start: 0, end: 0, next: undefined },
            // The room for a report differs from answer to answer.
            max: () => rooms[(turn += 1) % rooms.length] ?? MAX,
          });
          expect(pieces.join("")).toBe(report);
          for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(MAX);
          // No piece is cut within a character.
          expect(pieces.every((piece) => piece.isWellFormed())).toBe(report.isWellFormed());
        }
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["one line", "x".repeat(10_000_000)],
    ["headings", "# a\n".repeat(2_500_000)],
    ["signs", "#".repeat(10_000_000)],
    ["a heading of spaces", `# ${" ".repeat(10_000_000)}#`],
    ["fences", "```\n".repeat(2_500_000)],
    ["line ends", "\r\n".repeat(5_000_000)],
  ])("takes linear time on 10 MB of %s (K3)", (_name, report) => {
    const sections = sectionsOf(report);
    const { end } = readOpening(report, sections, MAX);
    expect(end).toBeGreaterThan(0);
    expect(outlineOf(sections).length).toBeGreaterThan(0);
  });
});
