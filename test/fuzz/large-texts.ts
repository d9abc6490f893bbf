/** Texts of megabytes that are slow to parse, for every parser of untrusted text of any size (T15, T16). */

import { loadableConfig } from "./config-loader.ts";
import { comparePage } from "../../src/claims/compare-page.ts";
import { splitClaims } from "../../src/claims/split-claims.ts";
import { createOutputReader } from "../../src/gemini/cli/output.ts";
import { readInteraction } from "../../src/gemini/interactions/reader.ts";
import { cleanText, oneLine } from "../../src/platform/clean-text.ts";
import { createRedactor } from "../../src/platform/redact.ts";
import { namePart } from "../../src/reports/files/file-name.ts";
import { renderReportHtml } from "../../src/reports/html/html.ts";
import { renderMarkdown } from "../../src/reports/markdown/markdown.ts";
import { readTable } from "../../src/reports/table/read-table.ts";
import { resultOf } from "../../src/runs/poll/agent-result.ts";
import { excerptOf, searchWords, soughtIn } from "../../src/runs/history/search-store.ts";
import { extractJsonFromOutput } from "../../src/search/extract-json.ts";
import { SEARCH_SCHEMA } from "../../src/search/schemas.ts";
import { HOSTILE, MEGABYTE } from "../corpus/hostile-texts.ts";

type Make = (size: number) => string;

export interface Reader {
  read(text: string): unknown;
  texts: Readonly<Record<string, Make>>;
}

/** The sizes whose times are compared; a smaller scale uses shorter texts. */
export const sizes = (scale: number): { half: number; whole: number } => {
  const whole = Math.max(1, Math.min(10, Math.round(10 * scale * 10))) * MEGABYTE;
  return { half: whole / 2, whole };
};

const repeated =
  (unit: string, before = "", after = ""): Make =>
  (size) =>
    before + unit.repeat(Math.ceil(size / unit.length)) + after;

/** In addition to the corpus of hostile texts: pieces that a pattern could match in more than one way. */
const ANSWERS: Record<string, Make> = {
  "spaces after a key": repeated(" ", '"success"', "x"),
  "spaces after the word report": repeated(" ", "report", "x"),
  "spaces after a closed report": repeated(" ", '{"success":true,"report":"abc",', "x"),
  "spaces inside an unclosed report": repeated(" ", '{"success":true,"report":"', 'x "verified":true}'),
  "slashes after a quote": repeated("/", '{"success":true,"report":"a" ', '\nb","verified":true, x}'),
  "number signs after a quote": repeated("#", '{"success":true,"report":"a" ', '\nb","verified":true, x}'),
  "comments after a quote": repeated("/**/", '{"success":true,"report":"a" ', 'b","verified":true, x}'),
  "curly quotes in a list": repeated("‘", '{"success":true,"report":"a","sources_visited":[', "x}"),
  "quotes in the wrong places": repeated("'x'y", '{"success":true,"report":[', "]}"),
  "braces in brackets": repeated("[{", '{"success":true,"report":', "}"),
  "escaped quotes in a list": repeated(String.raw`\"x`, '{"success":true "report":"a","sources_visited":["', "}"),
  "single quotes in a list": repeated("'x", '{"success":true "report":"a","sources_visited":[', "}"),
  "one long source": repeated("a", '{success:true,report:"a","sources_visited":["', '"] x'),
  "lorem ipsum": repeated("!", '{"success":true,"report":"lorem ipsum ', '\\nx"}'),
  "a placeholder that does not end": repeated(" the", '{"success":true,"report":"your', '"}'),
};

const TABLES: Record<string, Make> = {
  "quotes before a letter and a space": repeated('"a ', '[{"a":"', "}"),
  "quotes before an address": repeated('"http://a', '{"rows":[', "}"),
  "names begun": repeated('{"a'),
  "strings begun in lists": repeated('["', "", '"]]}'),
  "spaces in a cell": repeated(" ", '{"rows":[["a', 'b","c"]]}'),
  "marks in a cell": repeated(" [1] [cite: 2, 3]", '{"rows":[["a', '","c"]]}'),
  "marks begun in a cell": repeated(" [cite: 1, 2", '{"rows":[["a', '","c"]]}'),
  "rows cut": repeated('{"c1":{"value":"a","sources":[1]}},', '{"rows":['),
};

const MARKDOWN: Record<string, Make> = {
  brackets: repeated("["),
  "images begun": repeated("!["),
  "empty images": repeated("![]("),
  stars: repeated("*"),
  parentheses: repeated("("),
  bars: repeated("|"),
  "bars and backticks": repeated("`|"),
  "spaces before a word": repeated(" ", "", "x"),
  "lines of spaces": repeated("  \n", "", "x"),
  "nested quotes": repeated("> "),
  "nested lists": repeated("- "),
  "numbers begun": repeated("1. "),
  backticks: repeated("`"),
  "backticks of growing number": (size) => {
    let text = "";
    for (let count = 1; text.length < size; count += 1) text += `${"`".repeat(count)} `;
    return text;
  },
  "fences begun": repeated("~~~\n"),
  "tags begun": repeated("<a "),
  "addresses begun": repeated("<https:"),
  comments: repeated("<!--"),
  backslashes: repeated("\\"),
  "a heading of number signs": repeated("#", "# "),
  underlines: repeated("=", "a\n", " x"),
  "listed sources": repeated("1. [a](https://a.example/x)\n"),
  "sources begun": repeated("1. [a](https://a.example/"),
  "a fence in nested lists": repeated("- ", "", "```\n"),
  "a fence in nested quotes": repeated("> ", "", "```\n"),
  "digits with separators": repeated("1,"),
  "letters with dots": repeated("a."),
  "dashes between bars": repeated("|-", "|a\n"),
};

/** Short text that could become much HTML, or deeply nested HTML. */
const LINKED: Record<string, Make> = {
  "citations in a row": repeated("[1]"),
  "citations in lines": repeated("a [cite: 1]\n\n"),
  "citations begun": repeated("[cite: 1,"),
  "one long address, linked often": repeated("[a]\n\n", `[a]: https://a.example/${"b".repeat(4_000)}\n\n`),
  "titles begun": repeated('[a](b "'),
  "deep emphasis": (size) => "*a **b ".repeat(size / 14) + "**c*".repeat(size / 14),
  "deep emphasis in paragraphs": repeated(`${"*a **b ".repeat(700)}${"**c*".repeat(700)}\n\n`),
  "headings of one name": repeated("# a\n# a-2\n"),
  "paragraphs of brackets": repeated(`${"[".repeat(3_000)}\n\n`),
  "paragraphs of images begun": repeated(`${"![".repeat(2_000)}\n\n`),
  "paragraphs of citations in brackets": repeated(`${"[[1]".repeat(1_000)}\n\n`),
  "long paragraphs with brackets": repeated(`${"[".repeat(499)}${"a_b ".repeat(4_800)}\n\n`),
  "one long word": repeated("a"),
  "one long gap": repeated(" ", "a", "b"),
  "cells with escaped bars": (size) => {
    const columns = Math.min(6_000, size / 10);
    return `${"|a".repeat(columns)}\n${"|-".repeat(columns)}\n${String.raw`|a\|b`.repeat(size / 5)}\n`;
  },
  "cells of one digit": repeated("|1|2|3|4|\n", "|a|b|c|d|\n|-|-|-|-|\n"),
  "a table as people write it": repeated(
    "| Pump 42 | 3,500 EUR | good **value** for [money](https://a.example/b) | 2025 [1] |\n",
    "| a | b | c | d |\n|-|-|-|-|\n",
  ),
  "wide tables": repeated(`${"|a".repeat(500)}\n${"|-".repeat(500)}\n|\n|\n\n`),
};

/** For a search for `energy` and words that begin with `zero`. */
const SEARCHED: Record<string, Make> = {
  "one word": repeated("energy "),
  "one word without an end": repeated("energy"),
  "words that begin alike": repeated("energ energies "),
  "words that end alike": repeated("xenergy azerox "),
  accents: repeated("e\u0301"),
  "letters of two halves": repeated("😀𝒆"),
};

const INTERACTIONS: Record<string, Make> = {
  "many sources": (size) =>
    interaction(Array.from({ length: size / 60 }, (_unused, n) => ({ url: `u${n}`, end_index: 1 }))),
  "many parts": (size) =>
    JSON.stringify({
      id: "v1",
      steps: [
        { type: "model_output", content: Array.from({ length: size / 30 }, () => ({ type: "text", text: "é" })) },
      ],
    }),
  "a report of line breaks": (size) => interaction([], "\n".repeat(size / 2)),
  "a report of spaces": (size) => interaction([], `1.${" ".repeat(size)}x`),
  "a report of numbers": (size) => interaction([], "1. [".repeat(size / 4)),
  "many listed sources": (size) => {
    const lines = Array.from({ length: size / 30 }, (_unused, n) => `1. [a](https://a.example/${n})`);
    return interaction([], lines.join("\n"));
  },
  "deep nesting": (size) => `{"id":"v1","steps":${"[".repeat(size / 2)}${"]".repeat(size / 2)}}`,
};

function interaction(annotations: object[], text = "é"): string {
  const steps = [{ type: "model_output", content: [{ type: "text", text, annotations }] }];
  return JSON.stringify({ id: "v1", status: "completed", steps });
}

const LINES: Record<string, Make> = {
  "one line": repeated("a"),
  "empty lines": repeated("\n"),
  "braces on lines": repeated("{\n"),
  "short events": repeated('{"type":"message","role":"assistant","content":"a"}\n'),
  "tool calls": repeated('{"type":"tool_use","tool_name":"web_fetch","parameters":{"prompt":"http://a.example"}}\n'),
  "one tool call full of spaces": repeated(
    " ",
    '{"type":"tool_use","tool_name":"web_fetch","parameters":{"prompt":"a',
    'b"}}\n',
  ),
  "one address full of dots": repeated(
    ".",
    '{"type":"tool_use","tool_name":"web_fetch","parameters":{"prompt":"http://a',
    'b"}}\n',
  ),
};

const HIDDEN: Record<string, Make> = {
  escapes: repeated("\u001B"),
  "sequences begun": repeated("\u001B["),
  "titles begun": repeated("\u001B]"),
  "titles begun with numbers": repeated("0;", "\u001B]"),
  "halves of characters": repeated("\uDB40\u200B\uDC41"),
  returns: repeated("\r"),
  spaces: repeated(" ", "a", "b"),
};

/** Each parses the text as its fuzz target does, without the checks. */
export const READERS: Readonly<Record<string, Reader>> = {
  "JSON extraction": { read: (text) => extractJsonFromOutput(text, SEARCH_SCHEMA), texts: { ...ANSWERS, ...HOSTILE } },
  "interaction JSON": { read: readResult, texts: INTERACTIONS },
  "Gemini CLI output": { read: readLines, texts: { ...LINES, spaces: HIDDEN["spaces"] ?? repeated(" ") } },
  Markdown: { read: renderReport, texts: MARKDOWN },
  "HTML report": { read: renderHtml, texts: { ...MARKDOWN, ...LINKED } },
  "table answers": {
    read: (text) => readTable(text, { columns: ["a", "b"], known: new Set([1, 2]) }),
    texts: TABLES,
  },
  claims: { read: readClaims, texts: { ...MARKDOWN, ...LINKED } },
  "search excerpts": { read: excerptIn, texts: { ...SEARCHED, ...HIDDEN } },
  "clean text": { read: (text) => cleanText(text) + oneLine(text), texts: { ...HIDDEN, ...MARKDOWN } },
  redaction: {
    read: createRedactor({ KEY: "aaaaaaab" }),
    texts: { "almost the key": repeated("a"), "almost Google's": repeated("AIza"), "Google's": repeated("A", "AIza") },
  },
  "file names": { read: namePart, texts: { dashes: repeated("-"), accents: repeated("\u0301"), ...HIDDEN } },
  config: {
    read: loadableConfig,
    texts: {
      "many names": (size) =>
        JSON.stringify(Object.fromEntries(Array.from({ length: size / 20 }, (_unused, n) => [`NAME_${n}`, "x"]))),
      braces: repeated("{"),
      brackets: repeated("["),
    },
  },
};

function readResult(text: string): unknown {
  const read = readInteraction(JSON.parse(text));
  return read === undefined ? undefined : resultOf(read, { partial: false });
}

function readClaims(report: string): unknown {
  const sources = [{ n: 1, title: "", url: "https://a.example/x", domain: "a.example" }];
  const citations = Array.from({ length: 1_000 }, (_unused, index) => ({ n: 1, start: 0, end: index * 997 }));
  const claims = splitClaims({
    report,
    sources,
    citations,
    supports: [{ text: report, urls: ["https://a.example/x"] }],
  });
  const claim = { text: report.slice(0, 2_000), context: [] };
  return [claims, comparePage(claim, { title: "", blocks: [report] })];
}

function excerptIn(report: string): unknown {
  const sought = soughtIn(searchWords("energy zero"));
  return excerptOf({ question: report, report }, sought, { characters: Infinity });
}

function readLines(text: string): unknown {
  const reader = createOutputReader({ onActivity: () => {}, onFinished: () => {} });
  for (let at = 0; at < text.length; at += 65_536) reader.push(text.slice(at, at + 65_536));
  return reader.finish();
}

function renderReport(report: string): string {
  return renderMarkdown({
    query: report,
    report,
    sources: [{ n: 1, title: report.slice(0, 1_000), url: "https://a.example/x", domain: "a.example" }],
    partial: undefined,
    metadata: undefined,
    includeSources: true,
  });
}

function renderHtml(report: string): string {
  return renderReportHtml({
    query: report,
    report,
    sources: [{ n: 1, title: report.slice(0, 1_000), url: "https://a.example/x", domain: "a.example" }],
    citations: Array.from({ length: 1_000 }, (_unused, index) => ({ n: 1, start: 0, end: index * 997 })),
  }).html;
}
