import type { Token } from "markdown-it";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addCitations } from "./citation-tokens.ts";
import { addFootnoteRules, definedFootnotes } from "./footnotes.ts";
import { addFormulaRules } from "./formulas.ts";
import { createParser } from "./parser.ts";
import { rangeOf } from "./ranges.ts";

function parserFor(text: string) {
  const md = createParser();
  const meant = new Map([[1, 1]]);
  addCitations(
    md,
    { known: new Set([1]), meant: { google: meant, plain: meant }, numberOf: () => undefined },
    { marks: [], positions: [] },
  );
  addFormulaRules(md);
  addFootnoteRules(md, definedFootnotes(text));
  return md;
}

interface Located {
  token: Token;
  source: string;
  inCell: boolean;
}

function tokensOf(text: string): Located[] {
  let cells = 0;
  return parserFor(text)
    .parse(text, {})
    .flatMap(({ type, children }) => {
      if (type === "tr_open") cells += 1;
      if (type === "tr_close") cells -= 1;
      return (children ?? []).map((token) => {
        const { start, end } = rangeOf(token);
        return { token, source: text.slice(start, end), inCell: cells > 0 };
      });
    });
}

const { unescapeAll } = createParser().utils;

/** The source of a token by itself. Text depends on what is beside it, anything else does not. */
function readAlone({ token: { type }, source, inCell }: Located): { type: string; content: string }[] {
  const written = inCell ? source.replaceAll("\\|", "|") : source;
  if (type === "text") return [{ type, content: unescapeAll(written) }];
  const [inline] = parserFor("[^n]:").parseInline(written, {});
  return (inline?.children ?? []).map((token) => ({ type: token.type, content: token.content }));
}

const sourcesOf = (text: string, type: string): string[] =>
  tokensOf(text)
    .filter(({ token }) => token.type === type)
    .map(({ source }) => source);

describe("the range of an inline token", () => {
  test.for([
    [
      "a mark in a cell after escaped bars",
      "| a | b |\n|-|-|\n| x\\|y | `c\\|d` [cite: 1] z\\|\\| |",
      "citation",
      ["[cite: 1]"],
    ],
    ["text with escaped bars", "| a | b |\n|-|-|\n| x\\|y | \\| |", "text", ["a", "b", "x\\|y", "\\|"]],
    ["code with escaped bars", "> - | a | b |\n>   |-|-|\n>   | 1 | `c\\|d` |", "code_inline", ["`c\\|d`"]],
    ["a mark that looks like a definition", "[cite: 1]: https://a.example/x\n[cite: 24]: y", "citation", ["[cite: 1]"]],
    ["a mark without a source", "So [9], [cite: 24]: y", "mark", ["[9]", "[cite: 24]"]],
    ["the start of a citation", "- [cite_start]**A:** b [cite: 1]", "cite_start", ["[cite_start]"]],
    ["text with entities and escapes", "> a &amp; \\*b\\* &#42;", "text", ["a &amp; \\*b\\* &#42;"]],
    [
      "a link in lines of a quote",
      "> See [a\n> b](https://a.example/ 'c')!",
      "link_open",
      ["[a\n> b](https://a.example/ 'c')"],
    ],
    ["strong text", "a __b__ **c**", "strong_open", ["__", "**"]],
    ["a closed heading", "##  a `b` ##  ", "code_inline", ["`b`"]],
    ["an underlined heading", "a [1]\n  b\n---", "citation", ["[1]"]],
    ["a footnote and its note", "a[^n]\n\n[^n]: b *c*\n", "footnote", ["[^n]"]],
    ["a note", "a[^n]\n\n[^n]: b `c`\n", "code_inline", ["`c`"]],
    ["a formula", "is $x_1$ so", "formula", ["$x_1$"]],
    ["lines that end with carriage returns", "- a\r\n  b [1]\r\n\r\nc `d`\r\n", "code_inline", ["`d`"]],
    ["a tab that is expanded", "- s\n\ti `s`", "code_inline", ["`s`"]],
  ] as const)("%s", ([, text, type, expected]) => {
    expect(sourcesOf(text, type)).toEqual(expected);
  });

  const PIECES = [
    ..."ab *_`~\\|[]()<>!&$\n\t#-",
    "[cite: 1]",
    "[cite: 24]:",
    "[1]",
    "[cite_start]",
    "[^n]",
    "\n[^n]: ",
    "&amp;",
    "**",
    "~~",
    "\\|",
    "](https://a.example/)",
    "<https://a.example/>",
    "\n\n",
    "\n> ",
    "\n- ",
    "\n1. ",
    "\n| a | b |\n|-|-|\n| ",
    " | ",
    "\r\n",
    "$x_1$",
    "é",
    "😀",
  ];
  const markdown = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(""));

  test("is in order, and its source is parsed as the same token", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const tokens = tokensOf(text);
        const starts = tokens
          .filter(({ token }) => token.type !== "link_close")
          .map(({ token }) => rangeOf(token).start);
        expect(starts, text).toEqual(starts.toSorted((a, b) => a - b));
        // The marks of a container are between the lines of a token, and a delimiter is none by itself.
        const single = tokens.filter(({ token, source }) => token.nesting === 0 && !/[\r\n]/.test(source));
        expect(single.map(readAlone), text).toEqual(single.map(({ token: { type, content } }) => [{ type, content }]));
      }),
      { numRuns: 1_000 },
    );
  });
});
