import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALLOWED_ATTRIBUTES, ALLOWED_TAGS, allowedHtml } from "./allowed.ts";
import { type HtmlRequest, renderReportHtml } from "./html.ts";
import type { Source } from "../report.ts";

const SOURCES: Source[] = [1, 2, 3].map((n) => ({
  n,
  title: `Page ${n}`,
  url: `https://example.org/${n}`,
  domain: "example.org",
}));

const render = (report: string, more: Partial<HtmlRequest> = {}) =>
  renderReportHtml({ report, query: "What is it?", sources: SOURCES, ...more });

test("a report is rendered as HTML", () => {
  const report = `# Heat **pumps**

They do well. [cite: 1, 3]

## Costs & "more"

| Year | Cost |
| :-- | --: |
| 2025 | 4 [2] |

- one
- *two*

3. three

\`\`\`js
if (a < b) c();
\`\`\`

> [quoted](https://example.org/a?b=1&c=2 "title")

![chart](https://example.org/chart.png)

**Sources:**
1. [example.org](https://example.org/1)
2. [example.org](https://example.org/2)
3. [example.org](https://example.org/3)
`;
  const { html, ...rest } = render(report);
  expect(rest).toMatchInlineSnapshot(`
    {
      "contents": [
        {
          "id": "s-costs-more",
          "level": 2,
          "title": "Costs & "more"",
        },
      ],
      "sources": [
        {
          "cited_at": [
            "cite-1-1",
          ],
          "domain": "example.org",
          "n": 1,
          "title": "Page 1",
          "url": "https://example.org/1",
        },
        {
          "cited_at": [
            "cite-2-1",
          ],
          "domain": "example.org",
          "n": 2,
          "title": "Page 2",
          "url": "https://example.org/2",
        },
        {
          "cited_at": [
            "cite-3-1",
          ],
          "domain": "example.org",
          "n": 3,
          "title": "Page 3",
          "url": "https://example.org/3",
        },
      ],
      "title": "Heat pumps",
    }
  `);
  expect(html).toMatchInlineSnapshot(`
    "<p>They do well.<sup class="cite"><a id="cite-1-1" href="#source-1" aria-label="Source 1: Page 1">[1]</a></sup><sup class="cite"><a id="cite-3-1" href="#source-3" aria-label="Source 3: Page 3">[3]</a></sup></p>
    <h2 id="s-costs-more">Costs &amp; "more"</h2>
    <div class="table" role="region" aria-label="Table 1" tabindex="0"><table>
    <thead>
    <tr>
    <th>Year</th>
    <th class="right">Cost</th>
    </tr>
    </thead>
    <tbody>
    <tr>
    <td>2025</td>
    <td class="right">4<sup class="cite"><a id="cite-2-1" href="#source-2" aria-label="Source 2: Page 2">[2]</a></sup></td>
    </tr>
    </tbody>
    </table></div>
    <ul>
    <li>one</li>
    <li><em>two</em></li>
    </ul>
    <ol start="3">
    <li>three</li>
    </ol>
    <div class="code" data-language="js"><pre tabindex="0" dir="ltr"><code>if (a &lt; b) c();
    </code></pre></div>
    <blockquote>
    <p><a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer nofollow" target="_blank" referrerpolicy="no-referrer">quoted</a></p>
    </blockquote>
    <p><a href="https://example.org/chart.png" rel="noopener noreferrer nofollow" target="_blank" referrerpolicy="no-referrer">chart (image)</a></p>
    "
  `);
});

describe("links and names", () => {
  test.each([
    "javascript:hit()",
    "data:text/html,x",
    "/relative",
    "//a.example",
    "mailto:a@a.example",
    "https://a@b.example",
  ])("%s leaves the text alone", (address) => {
    expect(render(`[the text](${address})`).html).toBe("<p>the text</p>\n");
  });

  test("headings have unique ids, whatever their text", () => {
    const { contents, html } = render(
      "## A\n\n# Évolution!\n\n## 日本\n\n### a\n\n## A-2\n\n## [x](https://a.example) `y` [1]\n\n## \n\n1. [a](https://example.org/1)",
    );
    expect(contents).toEqual([
      { id: "s-a", title: "A", level: 2 },
      { id: "s-evolution", title: "Évolution!", level: 2 },
      { id: "s-section", title: "日本", level: 2 },
      { id: "s-a-2", title: "a", level: 3 },
      { id: "s-a-2-2", title: "A-2", level: 2 },
      { id: "s-x-y", title: "x y", level: 2 },
      { id: "s-untitled", title: "Untitled", level: 2 },
    ]);
    for (const { id } of contents) expect(html).toContain(` id="${id}"`);
  });

  test("a report links to its own sections", () => {
    expect(render("[x](#the-end) [y](#nowhere)\n\n## The end").html).toContain('<a href="#s-the-end">x</a> y');
  });

  test("a report without a title gets its question as title", () => {
    expect(render("Text.").title).toBe("What is it?");
    expect(render("Title\n===\n\nText.").title).toBe("Title");
    expect(render("#\n\nText.", { query: " " }).title).toBe("Research report");
  });

  test("a source has a web address or none", () => {
    const over = [{ url: "javascript:hit()" }, { resolved_url: "https://real.example/" }, { resolved_url: "data:,x" }];
    const sources = SOURCES.map((source, index) => ({ ...source, ...over[index] }));
    expect(render("x", { sources }).sources.map(({ url }) => url)).toEqual([
      undefined,
      "https://real.example/",
      "https://example.org/3",
    ]);
  });
});

test("without the allow-list, HTML in a report is text (T20)", () => {
  expect(render("a <b onclick=x>c</b> <!-- d -->\n\n<script>e</script>").html).toBe(
    "<p>a &lt;b onclick=x&gt;c&lt;/b&gt; &lt;!-- d --&gt;</p>\n<p>&lt;script&gt;e&lt;/script&gt;</p>\n",
  );
});

test("without the Markdown rules, the allow-list removes unsafe HTML (T20)", () => {
  const html = `<p id="page" class="x" style="a" onclick="x">a<img src=x onerror=x><script>x</script><a id="location" href="javascript:x" target="_top">b</a><svg onload=x></svg></p><h2 id="s-ok">c</h2>`;
  expect(allowedHtml(html)).toBe('<p>a<a>b</a></p><h2 id="s-ok">c</h2>');
});

/** Pieces with a meaning in Markdown or HTML. */
const piece = fc.oneof(
  fc.constantFrom(..."*_`~[]()<>!#|-=:+1. \n\\&\"'"),
  fc.constantFrom("\n\n", "[cite: 1]", "[2]", "](", "```\n", "<a href=", "<img src=x onerror=x>", "https://a.example/"),
  fc.constantFrom("javascript:x", "| a | b |\n|-|-|\n", "\n## ", "&lt;", "\u0000", "é", "👩‍👩‍👧", "\r\n", "\u001B["),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const reportText = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
const byteCitations = fc.array(
  fc.record({
    n: fc.integer({ min: 1, max: 4 }),
    start: fc.constant(0),
    end: fc.integer({ min: 0, max: 200 }),
  }),
  { maxLength: 4 },
);

test("any text yields only allowed HTML, and every id once (T20)", () => {
  fc.assert(
    fc.property(reportText, byteCitations, (report, citations) => {
      const { html, contents, sources } = render(report, { citations });
      const ids: string[] = [];
      for (const [, tag = "", attributes = ""] of html.matchAll(/<\/?([^\s>/]*)([^>]*)>/g)) {
        expect(ALLOWED_TAGS).toContain(tag);
        for (const [, name = "", value = ""] of attributes.matchAll(/([^\s="]+)="([^"]*)"/g)) {
          expect(value).toMatch(ALLOWED_ATTRIBUTES[tag]?.[name] ?? /^(?!)/);
          if (name === "id") ids.push(value);
        }
        expect(attributes.replaceAll(/ [^\s="]+="[^"]*"/g, "").trim()).toMatch(/^\/?$/);
      }
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(expect.arrayContaining(contents.map(({ id }) => id)));
      const cited = sources.flatMap(({ cited_at: places }) => places);
      expect(ids.filter((id) => id.startsWith("cite-")).toSorted()).toEqual(cited.toSorted());
    }),
    { numRuns: 1_000 },
  );
});

test("citations by bytes change nothing else in any text", () => {
  const without = (html: string): string =>
    html
      .replaceAll(/<p>(?:<sup class="cite"><a [^>]*>\[\d\]<\/a><\/sup>)+<\/p>/g, "")
      .replaceAll(/<sup class="cite"><a [^>]*>\[\d\]<\/a><\/sup>/g, "")
      .replaceAll(/\s+/g, "");
  fc.assert(
    fc.property(reportText, byteCitations, (text, citations) => {
      // Brackets in the text itself would be mistaken for citations, and lone surrogates would be cleaned.
      const report = text.replaceAll("[", "(").toWellFormed();
      expect(without(render(report, { citations }).html)).toBe(without(render(report).html));
    }),
    { numRuns: 1_000 },
  );
});
