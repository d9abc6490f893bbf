import { expect, test } from "vitest";
import { markdownView } from "./markdown-view.ts";
import { unpainted } from "./paint.ts";

const view = (markdown: string, width = 40): string =>
  markdownView(markdown, { width, paint: (style, text) => `<${style}>${text}</${style}>` });

test("headings, emphasis, links and citations are styled, without Markdown marks", () => {
  expect(view("# Heat **pumps**\n\nThey *work*, [says it](https://a.test/x)[cite: 1, 2].")).toBe(
    [
      "<strong>Heat</strong> <strong>pumps</strong>",
      "",
      "They *work*, says it",
      "<faint>(https://a.test/x)</faint><faint>[cite:</faint> <faint>1,</faint> <faint>2]</faint>.",
    ].join("\n"),
  );
});

test("wrapped lines are indented under their list mark", () => {
  const text =
    "- one two three four five six seven\n  1. nested item that is long enough\n> a quote that goes on and on";
  expect(markdownView(text, { width: 20, paint: unpainted })).toBe(
    [
      "• one two three four",
      "  five six seven",
      "  1. nested item",
      "     that is long",
      "     enough",
      "│ a quote that goes",
      "│ on and on",
    ].join("\n"),
  );
});

test("code and tables are not wrapped, addresses stay whole", () => {
  const url = `https://a.test/${"x".repeat(60)}`;
  const text = ["```", "# no heading     here", "```", "| a | b |", `See ${url}.`].join("\n");
  expect(markdownView(text, { width: 20, paint: unpainted })).toBe(
    ["```", "# no heading     here", "```", "| a | b |", "See", `${url}.`].join("\n"),
  );
});

test("a hostile line takes time proportional to its length (D4)", () => {
  for (const piece of ["[", "**", "`", "[a](", "[1,", "https://"]) {
    expect(markdownView(piece.repeat(200_000), { width: 80, paint: unpainted }).length).toBeGreaterThan(0);
  }
});
