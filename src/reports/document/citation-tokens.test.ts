import { describe, expect, test } from "vitest";
import { type HtmlRequest, renderReportHtml } from "../html/html.ts";
import type { Source } from "../report.ts";

const SOURCES: Source[] = [1, 2, 3].map((n) => ({
  n,
  title: `Page ${n}`,
  url: `https://example.org/${n}`,
  domain: "example.org",
}));

/** The source list with which the agent ends its reports. */
const LIST = `\n\n**Sources:**\n${SOURCES.map(({ n, title, url }) => `${n}. [${title}](${url})`).join("\n")}`;

const render = (report: string, more: Partial<HtmlRequest> = {}) =>
  renderReportHtml({ report: report + LIST, query: "What is it?", sources: SOURCES, ...more });

/** The text as a reader sees it, with the citations as numbers. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .trim();

/** Cites the first occurrence of the words. */
const citing = (report: string, words: string, n = 1) => {
  const start = report.indexOf(words);
  return { n, start, end: start + words.length };
};

describe("citations in the text", () => {
  test.each([
    ["a [1] b", "a[1] b"],
    ["a [1, 2] b", "a[1][2] b"],
    ["a [CITE:1,1 ,2] b", "a[1][2] b"],
    ["a [cite: 1, 9] b", "a[1][9] b"],
    ["a [cite: 1]: b", "a[1]: b"],
    ["a[cite: 1][cite: 2] b", "a[1][2] b"],
  ])("%s is cited", (report, text) => {
    const { html, sources } = render(report);
    expect(textOf(html)).toBe(text);
    expect(sources[0]?.cited_at).toEqual(["cite-1-1"]);
  });

  test.each([
    "a [9] b",
    "a [cite: 7, 8] b",
    "a [] b",
    "a [cite: ] b",
    "a [x1] b",
    "a [2024] b",
    "a \\[1] b",
    "an array[1] b",
  ])("%s stays unchanged", (report) => {
    const { html, sources } = render(report);
    expect(textOf(html)).toBe(report.replace("\\", ""));
    expect(sources.flatMap(({ cited_at: places }) => places)).toEqual([]);
  });

  test("code and link texts keep their brackets, and a link with a number is a link", () => {
    const { html, sources } = render("`a[1]` [see [1] there](https://a.example/) [2](https://b.example/)\n\n    b[1]");
    expect(sources.flatMap(({ cited_at: places }) => places)).toEqual([]);
    expect(html).toContain("<code>a[1]</code>");
    expect(html).toContain('href="https://a.example/"');
    expect(html).toContain(">see [1] there</a>");
    expect(html).toContain('href="https://b.example/"');
  });

  test("a mark that the report defines itself links to that address", () => {
    const { html } = render("a [1] b [2]\n\n[1]: https://example.org/3\n[2]: https://elsewhere.example/");
    expect(html).toContain('href="#source-3"');
    expect(html).toContain('href="https://elsewhere.example/"');
    expect(html).not.toContain("#source-1");
  });

  test("a number without a source is not linked (U3)", () => {
    const { html } = renderReportHtml({ report: "a [1] b [cite: 2]", query: "q", sources: SOURCES });
    expect(textOf(html)).toBe("a [1] b [cite: 2]");
    expect(html).not.toContain("#source-");
  });

  test("every citation has an id, and its source lists it", () => {
    const { html, sources } = render("a [1] b [2] c [1]\n\n- d [cite: 1]");
    expect(sources.map(({ cited_at: places }) => places)).toEqual([
      ["cite-1-1", "cite-1-2", "cite-1-3"],
      ["cite-2-1"],
      [],
    ]);
    expect(html).toContain(
      '<sup class="cite"><a id="cite-1-3" href="#source-1" aria-label="Source 1: Page 1">[1]</a></sup>',
    );
  });
});

describe("citations by bytes", () => {
  test.each([
    ["after the words", "Größe 京都 👩‍👩‍👧. More.", "京都 👩‍👩‍👧.", "Größe 京都 👩‍👩‍👧.[1] More."],
    ["after bold words", "It is **very big.** More.", "big.", "It is very big.[1] More."],
    ["at the end of a word that was cut", "Measured values.", "Measu", "Measured[1] values."],
    ["before blanks", "One two. Three.", "two. ", "One two.[1] Three."],
    ["behind a link", "See [the page](https://a.example/) now.", "the pa", "See the page[1] now."],
    ["behind an address", "See [the page](https://a.example/) now.", "https://a.ex", "See the page[1] now."],
    ["behind code", "Call `some code` now.", "some", "Call some code[1] now."],
    ["in a heading", "## The one title ##\n\nText.", "title", "The one title[1]\nText."],
    ["at the signs of a heading", "## The title\n\nText.", "##", "[1]The title\nText."],
    ["in a list", "- one\n- two words\n- three", "two words", "one\ntwo words[1]\nthree"],
    ["in nested quotes", "> - a\n>   b word c", "word", "a\nb word[1] c"],
    ["in a cell", "| a | b |\n|--|--|\n| one two | three |", "one", "a\nb\none[1] two\nthree"],
    ["after code", "```\none\ntwo\n```\n\nText.", "one", "one\ntwo\n[1]\nText."],
    ["at the line of a table", "| a |\n|---|\n| b |", "|---|", "a[1]\nb"],
    ["at a rule", "a\n\n---\n\nb", "---", "a[1]\nb"],
    ["in an entity", "a &amp; b", "&am", "a &[1] b"],
  ])("%s", (_name, report, words, text) => {
    const { html } = render(report, { citations: [citing(report, words)] });
    expect(textOf(html).replaceAll(/\n+/g, "\n")).toBe(text);
  });

  test("a range of Google's that covers the mark is cited once", () => {
    const report = "Größe. [cite: 1, 2] End";
    const citations = [citing(report, "[cite: 1, 2]", 1), citing(report, "[cite: 1, 2]", 2)];
    expect(textOf(render(report, { citations }).html)).toBe("Größe.[1][2] End");
    const before = [citing(report, "Größe.", 1)];
    expect(textOf(render(report, { citations: before }).html)).toBe("Größe.[1][2] End");
  });

  test("a range overrides the mark of a report that lost its list", () => {
    const report = "Claim. [cite: 17]";
    expect(textOf(render(report, { citations: [citing(report, "[cite: 17]", 2)] }).html)).toBe("Claim.[2]");
  });

  test("bytes within a character, beyond the end or before the start do no harm", () => {
    const report = "Größe 👩‍👩‍👧 京都";
    for (let end = -2; end < report.length + 3; end += 1) {
      const { html } = render(report, { citations: [{ n: 1, start: 0, end: end }] });
      expect(
        textOf(html)
          .replace(/ ?\[1\]/, "")
          .replaceAll(" ", ""),
      ).toBe(report.replaceAll(" ", ""));
    }
  });
});

/** Searching the whole line for each of them would take an hour. */
describe("a line of a megabyte is scanned once (T15)", () => {
  test.for([
    ["word", "a"],
    ["gap", " "],
  ])("with many citations: a %s", { timeout: 120_000 }, ([, unit = ""]) => {
    const report = `x${unit.repeat(900_000)}y`;
    const citations = Array.from({ length: 17_000 }, (_unused, index) => ({
      n: 1,
      start: 0,
      end: 1 + index * 50,
    }));
    const { sources } = renderReportHtml({ report, query: "", sources: SOURCES, citations });
    expect(sources[0]?.cited_at.length).toBeGreaterThan(900);
  });
});
