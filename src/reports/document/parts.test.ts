import { describe, expect, test } from "vitest";
import { splitText } from "./parts.ts";
import { joinParts, renderReportHtml, renderReportParts } from "../html/html.ts";

const requestFor = (report: string) => ({
  report,
  query: "What?",
  sources: [{ n: 1, title: "Page", url: "https://a.example/1", domain: "a.example" }],
  citations: [{ n: 1, start: 0, end: 10_000_000 }],
});

const render = (report: string) => renderReportHtml(requestFor(report));

const ROW = "| 1 | 2 |\n";
const TABLE = `| a | b |\n|-|-|\n${ROW}`;
const PARAGRAPH = `${"Some **words** of a section. ".repeat(30)}\n\n`;

describe("a report that is too long for one part (T15)", () => {
  test("does not affect shorter ones, which have one part", () => {
    for (const text of ["", "a", "a\n", "a ".repeat(50_000)])
      expect(splitText(text)).toEqual({ parts: [{ text, repeated: "", start: 0 }], rest: "" });
  });

  test.for([
    ["prose", "Some **words**.\n\n"],
    ["a table", ROW],
    ["one line", "word "],
    ["bars", "|"],
    ["citations", "[1]"],
    ["line ends", "\n"],
    ["fences", "```\na\n"],
  ])("made of %s is split, and nothing of it is lost", ([, unit = ""]) => {
    const whole = `a\n${unit.repeat(Math.ceil(3_000_000 / unit.length))}`;
    const { parts, rest } = splitText(whole);
    expect(parts.map(({ text, repeated }) => text.slice(repeated.length)).join("") + rest).toBe(whole);
    for (const { text } of parts) {
      expect(text.length).toBeLessThanOrEqual(111_000);
      expect(text.replaceAll(/[^\n[|$]/g, "").length).toBeLessThanOrEqual(66_000);
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(rest.length).toBeGreaterThan(0);
  });

  test("is split before headings, and each of its sections is in the contents once", () => {
    const sections = Array.from({ length: 40 }, (_, n) => `## Section ${n}\n\n${PARAGRAPH.repeat(8)}`);
    const { parts, rest } = splitText(sections.join(""));
    expect(rest).toBe("");
    expect(parts.length).toBeGreaterThan(2);
    for (const { text } of parts) expect(text).toMatch(/^## Section/);
    const { contents, html } = render(sections.join(""));
    expect(contents).toHaveLength(40);
    expect(html).not.toContain("## ");
    expect(html.match(/<h2 id=/g)).toHaveLength(40);
  });

  test("keeps the header of a table and the fence of code that are cut", () => {
    const table = render(`# Title\n\n${TABLE}${ROW.repeat(12_000)}`);
    expect(table.html).not.toContain("| 1 |");
    expect(table.html.match(/<table>/g)?.length).toBeGreaterThan(1);
    expect(table.html.match(/<td>1<\/td>/g)).toHaveLength(12_001);
    const code = render(`\`\`\`js\n${"const a = '**b**';\n".repeat(9_000)}\`\`\`\n\nThe **end**.`);
    expect(code.html).not.toContain("<strong>b");
    expect(code.html).toContain("The <strong>end</strong>.");
    expect(code.html.match(/const a/g)).toHaveLength(9_000);
  });

  test("resolves links, footnotes and citations across its parts", () => {
    const { html, sources } = renderReportHtml({
      ...requestFor(""),
      citations: [],
      report: `First [x][far] and a note[^n] [1].\n\n${PARAGRAPH.repeat(300)}\n\n[far]: https://far.example/\n\n[^n]: The **note**.\n\nLast [1].\n\nSources:\n1. [a](https://a.example/1)`,
    });
    expect(html).toContain('<a href="https://far.example/"');
    expect(html).toContain('id="fnref-1-1" href="#fn-1"');
    expect(html).toMatch(/<li id="fn-1">The <strong>note<\/strong>\. <a href="#fnref-1-1"/);
    expect(html.match(/id="fn-1"/g)).toHaveLength(1);
    expect(sources[0]?.cited_at).toEqual(["cite-1-1", "cite-1-2"]);
    for (const id of sources[0]?.cited_at ?? []) expect(html).toContain(`id="${id}"`);
  });

  test("gives way to other work between its parts", async () => {
    const request = requestFor(PARAGRAPH.repeat(600));
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 0);
    const report = await renderReportParts(request);
    clearInterval(timer);
    expect(report.parts.length).toBeGreaterThan(3);
    expect(ticks).toBeGreaterThan(1);
    expect(joinParts(report).html).toBe(renderReportHtml(request).html);
  });

  test("is plain text after its millionth character, with a notice", () => {
    const report = `# Title\n\n${PARAGRAPH.repeat(1_300)}\n<script>alert(1)</script> **end** [1]`;
    const { html, title } = render(report);
    expect(title).toBe("Title");
    const [, rest = ""] =
      /<p><em>This report is very long, so the rest is shown as plain Markdown\.<\/em><\/p>\n<pre class="rest" tabindex="0"><code>([^]*)<\/code><\/pre>\n$/.exec(
        html,
      ) ?? [];
    expect(rest).toMatch(/&lt;script&gt;alert\(1\)&lt;\/script&gt; \*\*end\*\* \[1\]$/);
    expect(rest).not.toContain("<");
  });

  test.each(["[", "![", "[[1]"])(
    "has paragraphs of %s as plain text, and those with a few links as Markdown",
    (unit) => {
      const { html } = render(`**a** ${unit.repeat(6_000 / unit.length)}`);
      expect(html.slice(0, 10)).toBe("<p>**a** " + unit[0]);
      const linked = `${"Some words. ".repeat(100)}[one](https://b.example/1) `.repeat(15);
      expect(render(linked).html.match(/<a href="https:/g)).toHaveLength(15);
    },
  );
});
