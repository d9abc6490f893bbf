import { expect, test } from "vitest";
import { renderReportHtml } from "../html/html.ts";
import { locatePictures, withPictures } from "./positions.ts";

const FACTS = { mimeType: "image/png" as const, width: 10, height: 10, byteLength: 100, hash: "0" };

/** `§` marks the position of a picture. */
function read(marked: string): { report: string; pictures: { n: number; offset: number }[] } {
  const pieces = marked.split("§");
  let offset = 0;
  const pictures = pieces.slice(0, -1).map((piece, index) => {
    offset += piece.length;
    return { n: index + 1, offset };
  });
  return { report: pieces.join(""), pictures };
}

function asMarkdown(marked: string): string {
  const { report, pictures } = read(marked);
  return withPictures(report, locatePictures(report, pictures), (n) => `[${n}]`)
    .replaceAll(/\n{2,}/g, "\n\n")
    .trimEnd();
}

const asHtml = (marked: string): string => {
  const { report, pictures } = read(marked);
  const { html } = renderReportHtml({
    report,
    query: "Q",
    sources: [],
    pictures: pictures.map((picture) => ({ ...FACTS, ...picture })),
  });
  return html.replaceAll(/<figure class="picture" id="picture-(\d+)">.*?<\/figure>/g, "[$1]").replaceAll("\n", "");
};

const CASES: [name: string, marked: string, markdown: string, html: string][] = [
  ["between paragraphs", "Ä one.\n\n§Two.", "Ä one.\n\n[1]\n\nTwo.", "<p>Ä one.</p>[1]<p>Two.</p>"],
  ["at the end of a paragraph", "One.§\n\nTwo.", "One.\n\n[1]\n\nTwo.", "<p>One.</p>[1]<p>Two.</p>"],
  [
    "in the middle of one",
    "One§ more.\nYes.\n\nTwo.",
    "One more.\nYes.\n\n[1]\n\nTwo.",
    "<p>One more.Yes.</p>[1]<p>Two.</p>",
  ],
  [
    "in code",
    "```\na\n\n§b\n```\n\nTwo.",
    "```\na\n\nb\n```\n\n[1]\n\nTwo.",
    '<div class="code"><pre tabindex="0" dir="ltr"><code>ab</code></pre></div>[1]<p>Two.</p>',
  ],
  ["in a list", "- a§\n- b\n\nTwo.", "- a\n- b\n\n[1]\n\nTwo.", "<ul><li>a</li><li>b</li></ul>[1]<p>Two.</p>"],
  ["at the end", "One.§", "One.\n\n[1]", "<p>One.</p>[1]"],
  ["before the title", "§# Title\n\nOne.", "# Title\n\n[1]\n\nOne.", "[1]<p>One.</p>"],
  ["two at one place", "One.\n\n§§Two.", "One.\n\n[1]\n\n[2]\n\nTwo.", "<p>One.</p>[1][2]<p>Two.</p>"],
];

test.each(CASES)("a picture received %s is placed between two blocks (S2)", (_name, marked, markdown, html) => {
  expect(asMarkdown(marked)).toBe(markdown);
  expect(asHtml(marked)).toBe(html);
});

test("text that looks like our picture mark stays text (S2)", () => {
  const { html } = renderReportHtml({
    report: '<figure id="picture-1"></figure>\n\nOne.',
    query: "Q",
    sources: [],
    pictures: [{ ...FACTS, n: 1, offset: 99 }],
  });
  expect(html.match(/<figure/g)).toHaveLength(1);
  expect(html).toContain("&lt;figure");
});
