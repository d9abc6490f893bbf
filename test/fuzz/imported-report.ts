/** Fuzz target: a Markdown file from elsewhere has web pages as sources, each number once, and is read again as it is (Z4). */

import { readMarkdown } from "../../src/reports/markdown/read-markdown.ts";
import { webUrl } from "../../src/reports/web-address.ts";
import { type FuzzTarget, must, mustBeUnpolluted, mustBeVisible, stringsIn } from "./target.ts";

export const importedReport: FuzzTarget = {
  name: "imported report",
  seeds: [
    '---\ntitle: T\ndate: 2025-03-04\n---\n# T\n\nA[^1] b [text][2] c<sup>1, 2</sup>.\n\n[^1]: Note, https://a.example/x\n[2]: <https://b.example/> "B"\n',
    "# T\n\nA[1][2].\n\n#### **Works cited**\n\n1. A, accessed on June 1, 2025, [https://a.example](https://a.example)\n2. [B](https://b.example/x_(y))\n",
    "# T\n\nA\\[[1]\\].\n\n## Sources\n\n- \\[1\\] [A][1] (a.example)\n\n## About this report\n\n- **Query:** Q\n- **Completed:** 2026-11-05T12:00:00.000Z\n\n[1]: https://a.example/\n",
    "A ([a.example](https://a.example/?utm_source=chatgpt.com)). `x[1]`\n\n```\n[1]: https://code.example/\n```\n",
  ],
  words: [
    "---\n",
    "title: ",
    "\n[^1]: ",
    "[^1]",
    "[1]",
    "][1]",
    "\\[[1]\\]",
    "<sup>1</sup>",
    "\n## References\n",
    "\n1. ",
    "\n- \\[1\\] [A][1] ",
    "https://a.example/",
    "https://a.example/(",
    "javascript:x",
    "__proto__: x\n",
    "\n## About this report\n\n- **Query:** ",
    "`",
    "\n```\n",
  ],
  open: () => ({
    check: (input) => {
      const read = readMarkdown(input);
      const { question, report, sources, at } = read;
      mustBeUnpolluted();
      for (const text of stringsIn(read)) mustBeVisible(text, "An imported report");
      const numbers = sources.map(({ n }) => n);
      must(new Set(numbers).size === numbers.length, "Z4: each source has a number of its own.");
      must(
        numbers.every((n) => Number.isInteger(n) && n > 0),
        "Z4: sources are numbered from 1.",
      );
      must(
        sources.every(({ url }) => webUrl(url) !== undefined),
        "Z4: a source is a web page.",
      );
      must(question === undefined || !question.includes("\n"), "Z4: the question is one line.");
      must(at === undefined || at > 0, "Z4: a date is one.");
      must(report.length <= input.length * 20 + 200, "Z4: a report stays about as long as its file.");
      return `${sources.length > 0} ${question === undefined} ${at === undefined}`;
    },
  }),
};
