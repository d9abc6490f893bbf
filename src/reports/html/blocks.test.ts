import { describe, expect, test } from "vitest";
import { type HtmlRequest, renderReportHtml } from "./html.ts";
import type { Source } from "../report.ts";

const render = (report: string, more: Partial<HtmlRequest> = {}) =>
  renderReportHtml({ report, query: "What is it?", sources: [], ...more });

describe("direction and language", () => {
  test("Arabic and Hebrew blocks run from right to left and have their language", () => {
    const { html } = render("## عنوان\n\nهذه فقرة عربية.\n\n- أولا\n- English\n\nזו פסקה בעברית.\n\nPlain English.");
    expect(html).toContain('lang="ar"');
    expect(html).toMatch(/<p dir="auto" lang="ar">هذه/);
    expect(html).toMatch(/<p dir="auto" lang="he">זו/);
    expect(html).toMatch(/<ul dir="rtl">\n<li dir="auto" lang="ar">/);
    expect(html).toContain('<li dir="auto">English</li>');
    expect(html).toContain('<p dir="auto">Plain English.</p>');
  });

  test("the columns of an Arabic table begin at the right", () => {
    expect(render("| السنة | الكلفة |\n|-|-|\n| 2025 | 4 |").html).toContain('tabindex="0" dir="rtl"><table>');
  });

  test("Japanese, Korean and Chinese are distinguished; other texts stay as they are", () => {
    expect(render("これは日本語です。\n\n東京都").html).toBe(
      '<p lang="ja">これは日本語です。</p>\n<p lang="ja">東京都</p>\n',
    );
    expect(render("东京是首都").html).toContain('lang="zh"');
    expect(render("한국어").html).toContain('lang="ko"');
    expect(render("Ein deutscher Satz, с кириллицей.").html).toBe("<p>Ein deutscher Satz, с кириллицей.</p>\n");
  });
});

describe("maths", () => {
  test.each([String.raw`\(E = mc^2\)`, "$E = mc^2$", "$$E = mc^2$$", String.raw`\[E = mc^2\]`])(
    "%s becomes MathML",
    (source) => {
      const { html } = render(`So ${source} holds.`);
      expect(html).toMatch(/^<p>So <math[^>]*>.*<msup><mi>c<\/mi><mn>2<\/mn><\/msup>.*<\/math> holds\.<\/p>\n$/);
    },
  );

  test("a formula on lines of its own is a block, whatever its lines begin with", () => {
    const { html } = render("Text:\n$$\n\\begin{aligned}\na &= b \\\\\n+ c &= d\n\\end{aligned}\n$$\nMore.");
    expect(html).toMatch(/<div class="maths" dir="ltr" tabindex="0"><math display="block"><mtable[^]*<\/math><\/div>/);
    expect(html).toContain("<p>More.</p>");
  });

  test.each([
    "from $5 to $10",
    "It costs $5.",
    "$5-$10 (US$)",
    "US$ 20 and CA$ 30",
    "$1,200 per year, then $900/year",
    "paid $3 = a third of $9 each",
    String.raw`escaped \$5 and \$6`,
  ])("%s is money", (text) => {
    expect(render(text).html).toBe(`<p>${text.replaceAll("\\", "")}</p>\n`);
  });

  test.each([String.raw`\[1\]`, String.raw`see \[note\]`])("%s is an escaped bracket", (text) => {
    expect(render(text).html).toBe(`<p>${text.replaceAll("\\", "")}</p>\n`);
  });

  test.each([
    String.raw`\(\href{javascript:hit()}{x}\)`,
    String.raw`\(\unknown{x}\)`,
    String.raw`\(${"{".repeat(500)}x${"}".repeat(500)}\)`,
    String.raw`\(\def\a{\a\a}\a\)`,
  ])("what cannot be converted stays readable: %s", (source) => {
    const { html } = render(`a ${source} b`);
    expect(html).toMatch(/^<p>a <code dir="ltr">\\\([^]*\\\)<\/code> b<\/p>\n$/);
    expect(html).not.toContain("<math");
  });

  test("text in a formula stays text", () => {
    expect(render(String.raw`\(\text{<img src=x onerror=hit()>}\)`).html).not.toContain("<img");
  });
});

test("task lists show what is done, for screen readers too", () => {
  expect(render("- [x] built\n- [ ] tested\n- [1] not a task").html).toBe(
    '<ul>\n<li class="task-item"><span class="task" role="img" aria-label="Done">☑</span> built</li>\n<li class="task-item"><span class="task" role="img" aria-label="To do">☐</span> tested</li>\n<li>[1] not a task</li>\n</ul>\n',
  );
});

test("footnotes are numbered by their first reference and lead back", () => {
  const { html } = render("One[^b] two[^a] three[^b] four[^none].\n\n[^a]: First *note*\nsecond line\n[^b]: Other");
  expect(html).toContain('One<sup class="note"><a id="fnref-1-1" href="#fn-1" aria-label="Footnote 1">1</a></sup>');
  expect(html).toContain("four[^none].");
  expect(html).toMatch(/<li id="fn-1">Other <a href="#fnref-1-1"[^>]*>↩<\/a> <a href="#fnref-1-2"/);
  expect(html).toContain('<li id="fn-2">First <em>note</em>\nsecond line <a href="#fnref-2-1"');
  expect(html).not.toContain("[^a]:");
});

test("code names its language, and diagrams stay code", () => {
  const { html } = render('```mermaid\ngraph TD; A-->B\n```\n\n```evil"><b>\nx\n```');
  expect(html).toContain('<div class="code" data-language="mermaid"><pre tabindex="0" dir="ltr"><code>graph TD;');
  expect(html).toContain('<div class="code"><pre');
});

const source = (n: number, url: string, more: Partial<Source> = {}): Source => ({
  n,
  title: "nature.com",
  url,
  domain: "nature.com",
  ...more,
});

describe("sources", () => {
  test("the same page is listed once, with all of its numbers (U3)", () => {
    const page = "https://nature.com/a";
    const { sources, html } = render(`x [1] y [2]\n\nSources:\n1. [a](https://r.example/1)\n2. [b](${page})`, {
      sources: [source(1, "https://r.example/1", { resolved_url: page }), source(2, `${page}#part`)],
    });
    expect(sources).toMatchObject([{ n: 1, also: [2], url: page, cited_at: ["cite-1-1", "cite-2-2"] }]);
    expect(html).toContain('<a id="cite-2-2" href="#source-1" aria-label="Source 2: nature.com">[2]</a>');
  });

  test("a link to a source is its citation and names a source without a title (U3)", () => {
    const { sources, html } = render(
      "Deep ([The deepest lakes](https://nature.com/a)). As [Lakes and seas](https://nature.com/b) says, and [other](https://x.example/).",
      {
        sources: [
          source(1, "https://nature.com/a"),
          source(2, "https://nature.com/b"),
          source(3, "https://c.example/"),
        ],
      },
    );
    expect(sources.map(({ title, cited_at }) => [title, cited_at.length])).toEqual([
      ["The deepest lakes", 1],
      ["Lakes and seas", 1],
      ["nature.com", 0],
    ]);
    expect(html).toMatch(/^<p>Deep<sup class="cite"><a id="cite-1-1"[^>]*>\[1\]<\/a><\/sup>\. As <a href/);
    expect(html).toMatch(/Lakes and seas<\/a><sup class="cite"><a id="cite-2-1"/);
  });
});
