import { describe, expect, test } from "vitest";
import { locatedDocument, numberedDocument } from "../../../reports/document/document.ts";
import type { Source } from "../../../reports/report.ts";
import { hyperlink, type Paint, unpainted } from "../paint.ts";
import { widthOf } from "../text-width.ts";
import { reportLines } from "./report.ts";

const SOURCES: Source[] = [1, 2].map((n) => ({
  n,
  title: `Page ${n}`,
  url: `https://example.org/${n}`,
  domain: "example.org",
}));
const tagged: Paint = (style, text) => `<${style}>${text}</${style}>`;

const shown = (text: string, { width = 40, paint = unpainted }: { width?: number; paint?: Paint } = {}): string =>
  reportLines(numberedDocument(text, SOURCES), { width, paint }).join("\n");

describe("text", () => {
  test("has styles instead of Markdown marks", () => {
    expect(shown("# Heat **pumps**\n\nThey *do* ~~not~~ work: `a * b`.", { paint: tagged })).toBe(
      [
        "<underline><strong>Heat </strong></underline><strong><underline><strong>pumps</strong></underline></strong>",
        "",
        "They <emphasis>do</emphasis> <struck>not</struck> work: <accent>a * b</accent>.",
      ].join("\n"),
    );
  });

  test("is wrapped under its list mark or quotation bar", () => {
    const text =
      "- one two three four five six seven\n  1. nested item that is long enough\n- two\n\n> a quote that goes on and on";
    expect(shown(text, { width: 20 })).toBe(
      [
        "• one two three four",
        "  five six seven",
        "  1. nested item",
        "     that is long",
        "     enough",
        "• two",
        "",
        "│ a quote that goes",
        "│ on and on",
      ].join("\n"),
    );
  });

  test("breaks Japanese between characters, and keeps closing marks at the end of a line", () => {
    const lines = reportLines(numberedDocument("寒冷地でも機能します。そうです。", []), {
      width: 20,
      paint: unpainted,
    });
    expect(lines).toEqual(["寒冷地でも機能しま", "す。そうです。"]);
  });

  test("keeps code as it is and URLs whole", () => {
    const url = `https://a.test/${"x".repeat(60)}`;
    expect(shown(`\`\`\`\n# no heading     here\n\`\`\`\n\nSee ${url}.`, { width: 20 })).toBe(
      ["  # no heading     here", "", "See", `${url}.`].join("\n"),
    );
  });
});

describe("a table", () => {
  const TABLE =
    "| Model | Noise | Remarks |\n|---|--:|---|\n| **A** | 28 | quiet at night and by day [1] |\n| B | 103 | loud |";

  test("has box characters and fits the width", () => {
    expect(shown(TABLE, { width: 38 })).toBe(
      [
        "┌───────┬───────┬────────────────────┐",
        "│ Model │ Noise │ Remarks            │",
        "├───────┼───────┼────────────────────┤",
        "│ A     │    28 │ quiet at night and │",
        "│       │       │ by day[1]          │",
        "├───────┼───────┼────────────────────┤",
        "│ B     │   103 │ loud               │",
        "└───────┴───────┴────────────────────┘",
      ].join("\n"),
    );
  });

  test("becomes a list of records where its columns cannot fit", () => {
    expect(shown(TABLE, { width: 20 })).toBe(
      [
        "Model: A",
        "Noise: 28",
        "Remarks: quiet at",
        "  night and by",
        "  day[1]",
        "",
        "Model: B",
        "Noise: 103",
        "Remarks: loud",
      ].join("\n"),
    );
  });

  test.each([28, 40, 61, 80, 200])("with words of every width is never wider than %i columns", (width) => {
    const row =
      "| 日本のヒートポンプ市場 | https://example.org/a/very/long/address/that/does/not/fit | averyveryverylongword 👨‍👩‍👧 |";
    for (const line of shown(`| a | b | c |\n|---|:-:|--:|\n${row}\n${row}`, { width }).split("\n")) {
      expect(widthOf(line)).toBeLessThanOrEqual(width);
    }
  });
});

describe("citations", () => {
  test("are the numbers of the sources; brackets that cite nothing stay text (U3)", () => {
    expect(shown("It works [2], in array[1] and \\[1\\].", { paint: tagged })).toBe(
      "It works<faint>[2]</faint>, in array[1] and [1].",
    );
  });

  test("of Google's agent are renumbered, with and without a mark in the text (U3)", () => {
    const report = "Yes. [cite: 7] No.\n\n**Sources:**\n7. [b](https://example.org/2)\n";
    const text = locatedDocument({ report, sources: SOURCES, citations: [{ n: 1, start: 15, end: 18 }] });
    expect(reportLines(text, { width: 80, paint: unpainted })).toEqual(["Yes.[2] No.[1]"]);
  });

  test("and links can be clicked; only http and https are links", () => {
    const text = numberedDocument("[safe](https://a.test/x) [bad](javascript:alert(1)) [1]", SOURCES);
    const [line] = reportLines(text, { width: 80, paint: unpainted, link: hyperlink });
    expect(line).toBe(`${hyperlink("https://a.test/x", "safe")} bad${hyperlink("https://example.org/1", "[1]")}`);
  });

  test("are written out where links cannot be clicked", () => {
    expect(shown("[says it](https://a.test/x) and <https://b.test/>", { width: 80 })).toBe(
      "says it (https://a.test/x) and https://b.test/",
    );
  });
});

test("a hostile text takes time proportional to its length (D4)", () => {
  for (const piece of ["[", "**", "`", "[a](", "[1,", "https://", "> ", "- ", "|"]) {
    expect(shown(`${piece.repeat(200_000)}x`, { width: 80 }).length).toBeGreaterThan(0);
  }
});
