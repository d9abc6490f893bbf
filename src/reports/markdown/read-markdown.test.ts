import { expect, test } from "vitest";
import { locatedDocument } from "../document/document.ts";
import { citedNumbers } from "../document/numbered.ts";
import { renderMarkdown } from "./markdown.ts";
import { readMarkdown } from "./read-markdown.ts";
import { MAX_PROCESSOR_MS, processorMs } from "../../../test/kit/clock/time-limits.ts";

const sourcesOf = (text: string) => readMarkdown(text).sources.map(({ n, title, url }) => [n, title, url]);

const cited = (text: string): number[] =>
  [...citedNumbers(locatedDocument(readMarkdown(text)))].toSorted((one, other) => one - other);

test("links of ChatGPT are sources, each page once (Z4)", () => {
  const text =
    "# Heat pumps\n\nThey work ([Field study](https://a.example/study?utm_source=chatgpt.com)). So do others ([b.example](https://b.example/x)), as said ([a](https://a.example/study)).";
  expect(sourcesOf(text)).toEqual([
    [1, "Field study", "https://a.example/study?utm_source=chatgpt.com"],
    [2, "b.example", "https://b.example/x"],
  ]);
  expect(readMarkdown(text).question).toBe("Heat pumps");
});

test("footnotes of Perplexity with one address are citations, others stay (Z4)", () => {
  const text =
    "# Heat pumps\n\nThey work[^1_1][^1_2]. Mostly[^note].\n\n[^1_1]: https://a.example/study\n\n[^1_2]: B, https://b.example/x_(y)\n\n[^note]: In the opinion of one author.";
  const { report, sources } = readMarkdown(text);
  expect(report).toBe(
    "# Heat pumps\n\nThey work[cite: 1][cite: 2]. Mostly[^note].\n\n\n\n[^note]: In the opinion of one author.\n\n## Sources\n\n1. [](https://a.example/study)\n2. [B](https://b.example/x_%28y%29)",
  );
  expect(sources.map(({ n, title, domain }) => [n, title, domain])).toEqual([
    [1, "a.example", "a.example"],
    [2, "B", "b.example"],
  ]);
  expect(cited(text)).toEqual([1, 2]);
});

test("the works cited of Gemini are sources, and superscripts are citations (Z4)", () => {
  const text =
    "# Heat pumps\n\nThey work.<sup>1, 2</sup> `<sup>1</sup>`\n\n#### **Works cited**\n\n1. Field study \\- A, accessed on June 1, 2025, [https://a.example/study](https://a.example/study)  \n2. *B*, accessed June 1, 2025, <https://b.example/x>\n";
  expect(sourcesOf(text)).toEqual([
    [1, "Field study - A", "https://a.example/study"],
    [2, "B", "https://b.example/x"],
  ]);
  expect(readMarkdown(text).report).toContain("They work.[cite: 1, 2] `<sup>1</sup>`\n\n## Sources\n\n1. [Field study");
  expect(cited(text)).toEqual([1, 2]);
});

test("link definitions by number are citations, and links by them stay links (Z4)", () => {
  const text =
    'They work [2]. See [the study][2].\n\n```\n[2]: https://code.example/\n```\n\n[2]: https://a.example/study "Field study"\n[x]: https://b.example/';
  expect(sourcesOf(text)).toEqual([[2, "Field study", "https://a.example/study"]]);
  expect(readMarkdown(text).report).toContain("They work [cite: 2]. See [the study](https://a.example/study).");
  expect(cited(text)).toEqual([2]);
});

test("a numbered list that is no list of sources stays, and so does what else is in one (Z4)", () => {
  const text =
    "# Steps\n\n1. Open https://a.example/\n2. Close it\n\n## References\n\nSee also:\n\n1. A. https://b.example/\n";
  const { report } = readMarkdown(text);
  expect(report).toContain("1. Open https://a.example/\n2. Close it\n");
  expect(report).toContain("## References\n\nSee also:");
  expect(sourcesOf(text).map(([, , url]) => url)).toEqual(["https://b.example/", "https://a.example/"]);
});

test("question and date come from the front matter, else from the title, else from the first line (Z4)", () => {
  const fields = readMarkdown('---\ntitle: "Heat pumps"\nquestion: Do they work?\ndate: 2025-03-04\n---\n\nYes.');
  expect(fields).toMatchObject({ question: "Do they work?", at: Date.UTC(2025, 2, 4), report: "Yes." });
  expect(readMarkdown("\n\nYes, they do.\n")).toMatchObject({ question: "Yes, they do.", at: undefined });
  expect(readMarkdown(" \n").question).toBeUndefined();
  expect(readMarkdown("---\nno: end").question).toBe("---");
});

test("a file that was saved here has its question, date, citations and sources again (Z4)", () => {
  const sources = [
    { n: 1, title: "Field [study] & more", url: "https://a.example/study", domain: "a.example" },
    { n: 3, title: "B", url: "https://b.example/x", domain: "b.example" },
  ];
  const at = Date.UTC(2026, 10, 5, 12);
  const metadata = {
    taskId: "t-1",
    kind: "search",
    status: "completed",
    mode: "sync",
    model: "m",
    startedAt: at - 60_000,
    completedAt: at,
    tokens: { input: 1, output: 1 },
    cost: { usd: 0.1, incomplete: false, estimated: false },
    usageFinal: true,
    verified: undefined,
    note: undefined,
    savedAt: at + 1,
  };
  const report = "# Heat pumps\n\nThey work.[1] So do these.[1, 3]";
  const query = "Do *heat* pumps [really] work?";
  const saved = renderMarkdown({
    query,
    report,
    sources,
    partial: undefined,
    metadata,
    includeSources: true,
    endedAt: at,
  });
  const read = readMarkdown(saved);
  expect(read).toMatchObject({ question: query, at });
  expect(read.sources.map(({ n, title, url }) => [n, title, url])).toEqual([
    [1, "Field (study) & more", "https://a.example/study"],
    [3, "B", "https://b.example/x"],
  ]);
  expect(read.report).not.toContain("About this report");
  expect(cited(saved)).toEqual([1, 3]);
});

test("hostile text is cleaned, unsafe addresses are no sources, and megabytes are read in a second (Z4, T15, T17)", () => {
  const text =
    "a\u001b]52;c;eA==\u0007b\u202Ec[^1] [^2]\n\n[^1]: javascript:alert(1)\n[^2]: https://user:secret@a.example/";
  expect(readMarkdown(text)).toMatchObject({ sources: [] });
  expect(readMarkdown(text).report.startsWith("abc")).toBe(true);
  for (const unit of ["[^1]: ", "[1][1]", "1. [", "<sup>1", "https://a.example/(", "---\n", "- \\[1\\] [x][1] "]) {
    const text = `# References\n${unit.repeat(Math.ceil(1_000_000 / unit.length))}`;
    expect(
      processorMs(() => readMarkdown(text)),
      unit,
    ).toBeLessThan(MAX_PROCESSOR_MS);
  }
});
