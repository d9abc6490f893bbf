import fc from "fast-check";
import { expect, test } from "vitest";
import { numberedDocument } from "./document.ts";
import { citeByNumber, numberedMarkdown } from "./numbered.ts";
import { numberSources } from "../report.ts";
import { MAX_PROCESSOR_MS, processorMs } from "../../../test/kit/clock/time-limits.ts";

const SOURCES = numberSources([
  { url: "https://a.example/heat", title: "" },
  { url: "https://en.wiki.example/wiki/Heat_(physics)", title: "Heat" },
]);

const cited = (report: string): string => citeByNumber(report, SOURCES).report;

test.each([
  ["It is so ([A study](https://a.example/heat)).", "It is so [1]."],
  ["[A study](https://a.example/heat#part) shows it.", "A study [1] shows it."],
  ["See [a.example](https://a.example/heat/).", "See [1]."],
  ["See <https://a.example/heat?utm_source=x>.", "See [1]."],
  ["[Heat](https://en.wiki.example/wiki/Heat_(physics)) is energy.", "Heat [2] is energy."],
  ["- a\n    - b <https://a.example/heat>", "- a\n    - b [1]"],
  ["*   a\n\n    b <https://a.example/heat>", "*   a\n\n    b [1]"],
  ["So [1], array[1].\n\n[1]: https://en.wiki.example/wiki/Heat_(physics)", "So [2], array[1].\n\n"],
  ["So [1] and [7].\n\n[1]: https://other.example/", "So [1](https://other.example/) and [7].\n\n"],
  ["[A study][1]", String.raw`[A study]\[1\]`],
  ["So [1], [2024].", String.raw`So \[1\], [2024].`],
  ["So [4].\r\n\r\nSources:\r\n4. [a](https://a.example/heat)\r\n", "So [1].\r\n\r"],
  ["Two:\n\n1. [A place](https://a.example/heat)", "Two:\n\n1. A place [1]"],
  ["A ` sign [2].\n\nSources:\n2. [a](https://a.example/heat)", "A ` sign [1].\n"],
  ["So [[1]](https://a.example/heat) it is.", "So [1] it is."],
  ["[cite: 4]: yes.\n\nSources:\n4. [a](https://a.example/heat)", "[4](https://a.example/heat): yes.\n"],
  [
    "| a\\|b | [4] |\n|-|-|\n| c\\|`[4]\\|` | so [4]\\| |\n\nSources:\n4. [a](https://a.example/heat)",
    "| a\\|b | [1] |\n|-|-|\n| c\\|`[4]\\|` | so [1]\\| |\n",
  ],
  ["[One](https://a.example/heat), [other](https://other.example/).", "One [1], [other](https://other.example/)."],
])("%s becomes %s (U3)", (report, expected) => {
  expect(cited(report)).toBe(expected);
});

test.each([
  "![A picture](https://a.example/heat)",
  "`[A study](https://a.example/heat)`",
  "```\n[A study](https://a.example/heat)\n```",
  "[A study](https://a.example/other)",
  "- a\n\n  ```\n  <https://a.example/heat>\n  ```",
  "- ```\n  <https://a.example/heat>\n  ```",
  "1. a\n\n        curl -O <https://a.example/heat>",
  "a\n\n\tcurl -O <https://a.example/heat>",
  "    curl -O <https://a.example/heat>",
  "-     <https://a.example/heat>",
  "> ```\n> <https://a.example/heat>\n> ```",
  "a `code\n<https://a.example/heat>` b",
  "``<https://a.example/heat> ` ``",
  "[A](https://a.example/heat)(archived)",
  "[a.example](https://a.example/heat): word",
])("%s stays as it is (U3)", (report) => {
  expect(cited(report)).toBe(report);
});

test("a label becomes the title of a source that has none (U3)", () => {
  const { sources } = citeByNumber(
    "([A study](https://a.example/heat)) ([B](https://en.wiki.example/wiki/Heat_(physics)))",
    SOURCES,
  );
  expect(sources.map(({ title }) => title)).toEqual(["A study", "Heat"]);
});

test("everything but citations stays byte for byte (U3)", () => {
  const pieces = [
    "a",
    " ",
    "\n",
    "\n\n",
    "*",
    "`",
    "\\",
    "|",
    "\n|-|-|\n",
    "- ",
    "> ",
    "&amp;",
    "é",
    "\t",
    "[x]",
    "(",
    "$",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, "[1]"), { maxLength: 40 }), (drawn) => {
      const text = drawn.join("");
      const document = { ...numberedDocument(text, SOURCES), meant: { google: new Map(), plain: new Map([[1, 2]]) } };
      expect(numberedMarkdown(document).replaceAll("[2]", "[1]")).toBe(text);
    }),
    { numRuns: 500 },
  );
});

test("hostile text of megabytes is read in linear time (D4)", () => {
  for (const piece of ["[", "`", "](http://", "([x](https://", "<https://a", "~~~\n", "[a](https://a.example/heat)("]) {
    const text = piece.repeat(200_000 / piece.length);
    expect(
      processorMs(() => citeByNumber(text, SOURCES)),
      piece,
    ).toBeLessThan(MAX_PROCESSOR_MS);
  }
});
