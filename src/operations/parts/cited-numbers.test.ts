import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FINISHED } from "../../../test/kit/store/runner.ts";
import { citeByNumber } from "../../reports/document/numbered.ts";
import { renderReportHtml } from "../../reports/html/html.ts";
import { renderMarkdown } from "../../reports/markdown/markdown.ts";
import { numberSources, type Source } from "../../reports/report.ts";
import { resultOf } from "../../runs/poll/agent-result.ts";
import type { RunResult } from "../../runs/run.ts";
import { readReport, withUrlsOnce } from "../reading/report-reading.ts";

const address = (page: number): string => `https://p${page}.example/x`;

/** How a report explains its numbers. */
type Explained = "list" | "definitions" | "annotations" | "nothing";

interface Written {
  /** The pages that the numbers 1, 2, … refer to; a page may have several numbers. */
  pages: number[];
  claims: { numbers: number[]; style: "google" | "plain" }[];
  explained: Explained;
  shuffle: number;
}

const written: fc.Arbitrary<Written> = fc.record({
  pages: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 }),
  claims: fc.array(
    fc.record({
      numbers: fc.uniqueArray(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 3 }),
      style: fc.constantFrom("google", "plain"),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  explained: fc.constantFrom("list", "definitions", "annotations", "nothing"),
  shuffle: fc.integer({ min: 0, max: 5 }),
});

const markOf = ({ numbers, style }: Written["claims"][number]): string =>
  style === "google" ? `[cite: ${numbers.join(", ")}]` : numbers.map((n) => `[${n}]`).join(" ");

function textOf({ pages, claims, explained }: Written): string {
  // If `[1]` is defined, Markdown makes it a link everywhere.
  const noCitation = explained === "definitions" ? "arrays" : "array[1]";
  const lines = claims.map((claim, index) => `Claim ${index} says ${noCitation} so ${markOf(claim)}.`);
  const list = pages.map((page, index) => `${index + 1}. [p${page}](${address(page)})`);
  const definitions = pages.map((page, index) => `[${index + 1}]: ${address(page)}`);
  if (explained === "list") return [...lines, "**Sources:**", ...list].join("\n\n");
  if (explained === "definitions") return [...lines, ...definitions].join("\n\n");
  return lines.join("\n\n");
}

/** The pages that a claim cites with valid numbers. */
const meantBy = ({ pages, explained }: Written, { numbers, style }: Written["claims"][number]): Set<string> => {
  const isTold = { list: true, definitions: style === "plain", annotations: style === "google", nothing: false };
  const cited = isTold[explained] ? pages.filter((_page, index) => numbers.includes(index + 1)) : [];
  return new Set(cited.map(address));
};

const rotated = (report: Written): { url: string; title: string }[] => {
  const urls = [...new Set(report.pages.map(address))];
  return [...urls.slice(report.shuffle % urls.length), ...urls.slice(0, report.shuffle % urls.length)].map((url) => ({
    url,
    title: "",
  }));
};

function agentResult(report: Written): RunResult {
  const text = textOf(report);
  const sources = rotated(report);
  const citations = report.claims.flatMap((claim, index) => {
    if (report.explained !== "annotations" || claim.style === "plain") return [];
    const start = text.indexOf(markOf(claim), text.indexOf(`Claim ${index} `));
    return [...meantBy(report, claim)].map((url) => ({
      sourceIndex: sources.findIndex((source) => source.url === url),
      start,
      end: start + markOf(claim).length,
    }));
  });
  return resultOf({ ...FINISHED, report: text, sources, citations }, { partial: false });
}

/** The URLs that a rendered claim links to. */
const claimsIn = (text: string, count: number, addresses: (claim: string) => string[]): string[][] =>
  Array.from({ length: count }, (_, index) =>
    addresses(new RegExp(String.raw`Claim ${index} .*`).exec(text)?.[0] ?? ""),
  );

/** Of links with their address, and of references to a source in brackets. */
const linksOf =
  (sources: readonly Source[]) =>
  (claim: string): string[] => [
    ...[...claim.matchAll(/\]\((https:[^)]+)\)/g)].map(([, url = ""]) => url),
    ...[...claim.matchAll(/\\\[(.*?)\\\]/g)].flatMap(([, cited = ""]) => numbersOf(sources, /\[(\d+)\]/g)(cited)),
  ];

const numbersOf =
  (sources: readonly Source[], pattern: RegExp) =>
  (claim: string): string[] =>
    [...claim.replaceAll("array[1]", "").matchAll(pattern)]
      .flatMap(([, list = ""]) => list.split(",").map(Number))
      .flatMap((n) => sources.find((source) => source.n === n)?.url ?? []);

const markdownOf = ({ report, sources, citations }: RunResult): string =>
  renderMarkdown({
    query: "q",
    report,
    sources,
    citations,
    partial: undefined,
    metadata: undefined,
    includeSources: true,
  });

const htmlLinks =
  (sources: readonly Source[]) =>
  (claim: string): string[] => [
    ...numbersOf(sources, /href="#source-(\d+)"/g)(claim),
    ...[...claim.matchAll(/href="(https:[^"]+)"/g)].map(([, url = ""]) => url),
  ];

function expectMeant(report: Written, shown: string[][]): void {
  for (const [index, claim] of report.claims.entries()) {
    const meant = meantBy(report, claim);
    expect([...meant], `claim ${index}`).toEqual(expect.arrayContaining(shown[index] ?? []));
  }
}

test("every number that a file, the page or an answer links leads to the page that the agent's report cites (U3)", async () => {
  await fc.assert(
    fc.asyncProperty(written, async (report) => {
      const result = agentResult(report);
      const { length } = report.claims;
      expectMeant(report, claimsIn(markdownOf(result), length, linksOf(result.sources)));
      const { html } = renderReportHtml({ ...result, query: "q" });
      expectMeant(report, claimsIn(html, length, htmlLinks(result.sources)));
      const answer = readReport(await withUrlsOnce(result), { section: "all", maxCharacters: 100_000 });
      const isByBytes = (result.citations ?? []).length > 0;
      const pattern = isByBytes ? /\[cite: ([\d, ]+)\]/g : /(?<!\\)\[([\d, ]+)\]/g;
      expectMeant(report, claimsIn(answer.report ?? "", length, numbersOf(answer.sources, pattern)));
    }),
    { numRuns: 300 },
  );
});

test("every number in the answer of a search leads to the page that its report cites (U3)", () => {
  fc.assert(
    fc.property(written, (drawn) => {
      const report: Written = drawn.explained === "annotations" ? { ...drawn, explained: "nothing" } : drawn;
      const text = textOf(report);
      const sources = numberSources(rotated(report));
      const result: RunResult = { report: text, sources, metadata: {}, partial: false };
      const { length } = report.claims;
      expectMeant(report, claimsIn(markdownOf(result), length, linksOf(result.sources)));
      expectMeant(report, claimsIn(renderReportHtml({ ...result, query: "q" }).html, length, htmlLinks(sources)));
      const answer = citeByNumber(text, sources);
      const shown = claimsIn(answer.report, length, numbersOf(sources, /(?<!\\)\[([\d, ]+)\]/g));
      expectMeant(report, shown);
      // Explained citations are kept.
      for (const [index, claim] of report.claims.entries()) {
        expect(shown[index], answer.report).toEqual(expect.arrayContaining([...meantBy(report, claim)]));
      }
    }),
    { numRuns: 300 },
  );
});

describe("a report without its list of sources", () => {
  const report = "Alpha is true [cite: 3]. Beta is false [cite: 1]. Both [cite: 1, 3]. Lost [cite: 2].";
  const at = (mark: string, sourceIndex: number) => {
    const start = report.indexOf(mark);
    return { sourceIndex, start, end: start + mark.length };
  };
  const result = resultOf(
    {
      ...FINISHED,
      report,
      sources: ["https://gamma.example/", "https://alpha.example/", "https://new.example/"].map((url) => ({
        url,
        title: "",
      })),
      citations: [at("[cite: 3]", 1), at("[cite: 1]", 0), at("[cite: 1, 3]", 1), at("[cite: 1, 3]", 0)],
    },
    { partial: true },
  );

  test("has sources numbered as its marks, and no other page gets one of these numbers (U3)", () => {
    expect(result.sources.map(({ n, url }) => [n, url])).toEqual([
      [1, "https://gamma.example/"],
      [3, "https://alpha.example/"],
      [4, "https://new.example/"],
    ]);
    expect(result.report).toBe(report);
  });

  test("has the same links in a file, an answer and the page (U3)", async () => {
    const text = markdownOf(result);
    expect(text).toContain(String.raw`Alpha is true \[[3]\]`);
    expect(text).toContain(String.raw`Beta is false \[[1]\]`);
    expect(text).toContain("\n[1]: https://gamma.example/\n[3]: https://alpha.example/\n");
    expect(text).toContain("Lost [cite: 2].");
    const answer = readReport(await withUrlsOnce(result), { section: undefined, maxCharacters: 100_000 });
    expect(answer.report).toBe("Alpha is true [3]. Beta is false [1]. Both [3][1]. Lost [cite: 2].");
    expect(answer.sources).toEqual(result.sources);
  });

  test("has no link for a number on which marks disagree (U3)", () => {
    const twice = "One [cite: 1]. Two [cite: 1].";
    const { sources, ...rest } = resultOf(
      {
        ...FINISHED,
        report: twice,
        sources: [0, 1].map((page) => ({ url: address(page), title: "" })),
        citations: [0, 1].map((page) => ({ sourceIndex: page, start: page * 15, end: page * 15 + 13 })),
      },
      { partial: true },
    );
    expect(sources.map(({ n }) => n)).toEqual([2, 3]);
    expect(markdownOf({ ...rest, sources, partial: true })).toContain(twice);
  });
});

test("the number of a page that is listed twice is given to no other page, and plain marks are linked (U3)", () => {
  const list = "1. [a](https://a.example/)\n2. [b](https://b.example/)\n3. [a](https://a.example/#sec)";
  const { report, sources } = resultOf(
    {
      ...FINISHED,
      report: `See [3] and array[3] and \`[3]\`.\n\n**Sources:**\n${list}`,
      sources: [{ url: "https://new.example/", title: "" }],
      citations: [],
    },
    { partial: false },
  );
  expect(sources.map(({ n, url }) => [n, url])).toEqual([
    [1, "https://a.example/"],
    [2, "https://b.example/"],
    [4, "https://new.example/"],
  ]);
  expect(report.split("\n")[0]).toBe("See [1] and array[3] and `[3]`.");
});

test("without its list of sources a report keeps its addresses (U3)", async () => {
  const report = "So ([A study](https://a.example/x)).\n\nSources:\n1. [a](https://a.example/x)";
  const result = {
    report,
    sources: numberSources([{ url: "https://a.example/x", title: "" }]),
    metadata: {},
    partial: false,
  };
  const read = (shown: RunResult, section?: string) => readReport(shown, { section, maxCharacters: 100_000 }).report;
  expect(read(await withUrlsOnce(result))).toBe("So [1].\n");
  expect(read(result)).toBe(report);
  expect(read(result, "all")).toBe(report);
});

test("Google's mark directly after a word is a number, too (U3)", () => {
  const text = "So it is[cite: 2]: yes.\n\n**Sources:**\n\n2. [p1](https://p1.example/x)";
  const sources = [{ n: 1, url: address(1), title: "", domain: "p1.example" }];
  expect(citeByNumber(text, sources).report.trim()).toBe("So it is[1]: yes.");
});

test("Google's start marks are shown on no surface (W1)", async () => {
  const text =
    "[cite_start]So it is. [cite: 1] [cite_start]And so. [cite: 2]\n\n**Sources:**\n\n1. [p1](https://p1.example/x)\n2. [p2](https://p2.example/x)";
  const sources = [1, 2].map((page) => ({ url: address(page), title: "" }));
  for (const citations of [[], [{ sourceIndex: 0, start: 22, end: 31 }]]) {
    const result = resultOf({ ...FINISHED, report: text, sources, citations }, { partial: false });
    const numbered = await withUrlsOnce(result);
    const shown = [
      renderReportHtml({ ...result, query: "" }).html,
      renderMarkdown({ ...result, query: "", partial: undefined, metadata: undefined, includeSources: true }),
      readReport(numbered, { section: undefined, maxCharacters: Infinity }).report,
      readReport(numbered, { section: "1", maxCharacters: Infinity }).report,
      citeByNumber(result.report, result.sources).report,
    ];
    for (const output of shown) {
      expect(output).not.toContain("cite_start");
      expect(output).toContain("So it is.");
    }
  }
});
