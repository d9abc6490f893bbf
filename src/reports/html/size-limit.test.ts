import { describe, expect, test } from "vitest";
import { boundedText } from "./size-limit.ts";
import { renderReportHtml } from "./html.ts";

const render = (report: string) =>
  renderReportHtml({
    report,
    query: "What?",
    sources: [{ n: 1, title: "Page", url: "https://a.example/1", domain: "a.example" }],
    citations: [{ n: 1, start_byte: 0, end_byte: 10_000_000 }],
  });

const ROW = "| 1 | 2 |\n";
const TABLE = `| a | b |\n|-|-|\n${ROW}`;

describe("a report that is too long for rendering (T15)", () => {
  test("does not affect shorter ones, which are rendered whole", () => {
    for (const text of ["", "a", "a\n", "a ".repeat(100_000)]) expect(boundedText(text)).toEqual({ text, rest: "" });
  });

  test.for([
    ["prose", "Some **words**.\n\n"],
    ["a table", ROW],
    ["one line", "word "],
    ["bars", "|"],
    ["citations", "[1]"],
    ["line ends", "\n"],
  ])("made of %s is cut, and nothing of it is lost", ([, unit = ""]) => {
    const whole = `a\n${unit.repeat(Math.ceil(3_000_000 / unit.length))}`;
    const { text, rest } = boundedText(whole);
    expect(text + rest).toBe(whole);
    expect(text.length).toBeLessThanOrEqual(200_000);
    expect(text.replaceAll(/[^\n[|]/g, "").length).toBeLessThanOrEqual(30_000);
    expect(rest.length).toBeGreaterThan(0);
  });

  test("is rendered as Markdown at its beginning and as plain text after a notice", () => {
    const report = `# Title\n\n${TABLE}${ROW.repeat(50_000)}\n<script>alert(1)</script> **end** [1]`;
    const { html, title } = render(report);
    expect(title).toBe("Title");
    const [, read = "", rest = ""] =
      /^([^]*)<p><em>This report is very long\. Its last [\d,]+ characters are shown as they were written\.<\/em><\/p>\n<pre tabindex="0"><code>([^]*)<\/code><\/pre>\n$/.exec(
        html,
      ) ?? [];
    expect(read).toContain("<td>1</td>");
    expect(read.match(/<tr>/g)?.length).toBeGreaterThan(1_000);
    expect(rest).toMatch(/^\| 1 \| 2 \|\n/);
    expect(rest).toMatch(/&lt;script&gt;alert\(1\)&lt;\/script&gt; \*\*end\*\* \[1\]$/);
    expect(rest).not.toContain("<");
  });

  test.each(["[", "![", "[[1]"])(
    "has paragraphs of %s as plain text, and those with a few links as Markdown",
    (unit) => {
      const { html } = render(`**a** ${unit.repeat(6_000 / unit.length)}`);
      expect(html.slice(0, 10)).toBe("<p>**a** " + unit[0]);
      const linked = `${"Some words. ".repeat(100)}[one](https://a.example/1) `.repeat(15);
      expect(render(linked).html.match(/<a href="https:/g)).toHaveLength(15);
    },
  );
});
