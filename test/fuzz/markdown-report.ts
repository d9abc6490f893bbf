/** Fuzz target: a saved report loads nothing, hides nothing and ends where its text ends (N1, N3, T20, T21). */

import markdownIt, { type Token } from "markdown-it";
import { cleanText } from "../../src/platform/clean-text.ts";
import { renderMarkdown } from "../../src/reports/markdown/markdown.ts";
import { neutralMarkdown } from "../../src/reports/markdown/neutral-markdown.ts";
import { PAYLOADS } from "../security/xss-payloads.ts";
import { type FuzzTarget, must, mustBeVisible } from "./target.ts";

export const SOURCES = [{ n: 7, title: "A page", url: "https://a.example/(x)", domain: "a.example" }];
/** The report may define the number itself, and then it has the first word on what it means. */
const ENDINGS = [
  "\n\n## Sources\n\n- \\[7\\] [A page][7] (a.example)\n\n[7]: https://a.example/%28x%29\n",
  "\n\n## Sources\n\n- \\[7\\] [A page](https://a.example/%28x%29) (a.example)\n",
];

export const markdownReport: FuzzTarget = {
  name: "Markdown",
  seeds: [
    "# Title\n\nText with `code`, ![image](https://a.example/i.png) and <b>tags</b>.\n\n```js\nlet x = `<img>`;\n```\n",
    "Title\n=====\n\n- item\n  ~~~\n  ![](x)\n  ~~~\n- <https://a.example>\n\n| a | `b|c` |\n|---|---|\n",
    "1. ```html\n<script>\n   ```\n<!-- comment --> ![ref][1]\n\n[1]: https://a.example\n",
    "> - > ```\n> <br> x<br>y\\![z](u) !![](v)\n",
    "text\n\n## Sources\n\n1. [a](https://a.example/(x))\n",
    "https://a.example/x\\<b> and https://a.example/`a ![b](https://evil.example/i)`\n",
    "[r]:\n- ```\n<img src=x>\n",
    ...PAYLOADS.map(({ text }) => text({ run: "x()", address: "https://evil.example/i" })),
  ],
  words: [
    "```",
    "~~~",
    "``",
    "![](",
    "<img src=x>",
    "<!--",
    "<br>",
    "</",
    "\n\n",
    "\n- ",
    "\n> ",
    "    ",
    "\\",
    "](x)",
    "<https:",
    "|",
    "https://a.example/x",
    "![cite: 7]",
    "[cite: 7]",
    "[7]",
    "\n[7]: https://evil.example/x",
    "[r]",
    "\n[r]: ",
  ],
  open: () => ({
    check: (input) => {
      // As it is stored.
      const report = cleanText(input);
      const neutral = neutralMarkdown(report);
      const document = renderMarkdown({
        query: input,
        report,
        sources: SOURCES,
        partial: "failed",
        metadata: undefined,
        includeSources: true,
      });
      mustBeVisible(document, "the document");
      must(
        document.startsWith("> **PARTIAL**: this run ended as failed"),
        "N3: a partial report begins with a notice.",
      );
      must(
        ENDINGS.some((ending) => document.endsWith(ending)),
        "N1: our list of sources ends the document.",
      );
      mustCite(document);
      for (const token of parse(document)) mustBeHarmless(token, `${report} https://a.example/%28x%29`);
      mustEndWithSources(document);
      return `${neutral === report} ${neutral.includes("`")} ${neutral.includes("&lt;")} ${document.includes("```")}`;
    },
  }),
};

/** Reads a file as another program does. The neutralizer parses nothing, so the two share no code. */
const PARSER = markdownIt({ html: true, maxNesting: 1_000 });
PARSER.validateLink = () => true;
PARSER.normalizeLink = (url) => url;
const { unescapeAll } = PARSER.utils;

const parse = (text: string): Token[] => PARSER.parse(text, {}).flatMap((token) => [token, ...(token.children ?? [])]);

const HARMLESS_TAG = /^<\/?(?:br|sup|sub|kbd)[ \t]*\/?>$/i;

function mustBeHarmless(token: Token, known: string): void {
  must(token.type !== "image", `T20: no picture loads, not ${String(token.attrGet("src"))}.`);
  const isTag = token.type === "html_inline" || token.type === "html_block";
  must(!isTag || HARMLESS_TAG.test(token.content.trim()), `T21: no HTML, not ${token.content}.`);
  const href = token.type === "link_open" ? String(token.attrGet("href")) : "";
  // Addresses in angle brackets have no escapes.
  must(
    plain(`${known} ${unescapeAll(known)}`).includes(plain(href)),
    `U3: no link that the report does not have, not ${href}.`,
  );
}

/** A definition of the report must not take our links elsewhere. */
function mustCite(document: string): void {
  const entry = parse(document).findLastIndex(({ type, content }) => type === "text" && content === "A page");
  const link = parse(document)[entry - 1];
  must(link?.attrGet("href") === "https://a.example/%28x%29", "U3: our list leads to its sources.");
}

/** Without what the neutralizer changes, and what no address contains. */
export const plain = (text: string): string => text.replaceAll(/[\s\\!]|image/g, "");

/** Code without an end, or raw HTML, would swallow our list of sources. */
function mustEndWithSources(document: string): void {
  const headings = PARSER.parse(document, {}).filter(({ type, level }) => type === "heading_open" && level === 0);
  const line = document.slice(0, document.lastIndexOf("\n\n- \\[7\\]")).split("\n").length - 1;
  must(headings.at(-1)?.map?.[0] === line, "N1: our list of sources stands after the report, not in it.");
}
