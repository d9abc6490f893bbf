/** Fuzz target: a saved report loads nothing, hides nothing and ends where its text ends (N1, N3, T20, T21). */

import { cleanText } from "../../src/platform/clean-text.ts";
import { renderMarkdown } from "../../src/reports/markdown/markdown.ts";
import { neutralMarkdown } from "../../src/reports/markdown/neutral-markdown.ts";
import { type FuzzTarget, must, mustBeVisible } from "./target.ts";

const SOURCES = [{ n: 7, title: "A page", url: "https://a.example/(x)", domain: "a.example" }];
const ENDING = "\n\n## Sources\n\n- \\[7\\] [A page](https://a.example/%28x%29) (a.example)\n";

export const markdownReport: FuzzTarget = {
  name: "Markdown",
  seeds: [
    "# Title\n\nText with `code`, ![image](https://a.example/i.png) and <b>tags</b>.\n\n```js\nlet x = `<img>`;\n```\n",
    "Title\n=====\n\n- item\n  ~~~\n  ![](x)\n  ~~~\n- <https://a.example>\n\n| a | `b|c` |\n|---|---|\n",
    "1. ```html\n<script>\n   ```\n<!-- comment --> ![ref][1]\n\n[1]: https://a.example\n",
    "> - > ```\n> <br> x<br>y\\![z](u) !![](v)\n",
    "text\n\n## Sources\n\n1. [a](https://a.example/(x))\n",
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
  ],
  open: () => ({
    check: (input) => {
      const neutral = neutralMarkdown(input);
      mustHoldNothingThatLoads(input, neutral);
      const document = renderMarkdown({
        query: input,
        // As it is stored.
        report: cleanText(input),
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
      must(document.endsWith(ENDING), "N1: our list of sources ends the document.");
      mustCloseFences(document);
      return `${neutral === input} ${neutral.includes("`")} ${neutral.includes("&lt;")} ${document.includes("```")}`;
    },
  }),
};

const LOADS = /(?<!\\)(?:\\\\)*!\[|<(?=[a-z/!?])(?!(?:https?|mailto):[^\s<>`\\]*>|\/?(?:br|sup|sub|kbd)[ \t]*\/?>)/i;

/** Such text is allowed only in code; without code marks there is none. */
function mustHoldNothingThatLoads(input: string, neutral: string): void {
  if (/[`~\\]/.test(input)) return;
  must(!LOADS.test(neutral), `T20, T21: nothing loads, not ${JSON.stringify(LOADS.exec(neutral)?.[0])}.`);
}

/** Otherwise the text after the report, including our own, would belong to it. */
function mustCloseFences(document: string): void {
  let open = "";
  for (const line of document.split("\n")) {
    const marks = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    if (marks === null) continue;
    const [, mark = "", rest = ""] = marks;
    if (open === "") {
      if (mark.startsWith("~") || !rest.includes("`")) open = mark;
    } else if (mark.startsWith(open) && rest.trim() === "") open = "";
  }
  must(open === "", "N1: code that a report begins ends with it.");
}
