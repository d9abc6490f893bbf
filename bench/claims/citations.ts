/** Whether the sources of each claim are found: six citation styles in four languages. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { splitClaims } from "../../src/claims/split-claims.ts";
import { numberSources } from "../../src/reports/report.ts";
import type { Table } from "../report.ts";
import { share } from "../wilson.ts";

const FILE = join(import.meta.dirname, "../data/cited-reports.json");

/**
 * A report in one style. `annotations` are texts of the report with the number of their source; they become byte ranges
 * or, in the style `supports`, Google's grounding supports.
 */
const sample = z.object({
  style: z.string(),
  lang: z.string(),
  report: z.string(),
  annotations: z.array(z.object({ text: z.string(), n: z.number() })).default([]),
  /** Each claim with the sources it cites. */
  gold: z.array(z.object({ claim: z.string(), sources: z.array(z.number()) })),
});

type Sample = z.infer<typeof sample>;

const readSamples = (): Sample[] => z.array(sample).parse(JSON.parse(readFileSync(FILE, "utf8")));

const SOURCES = numberSources(
  ["a", "b", "c"].map((name) => ({ url: `https://${name}.example/page`, title: `${name}.example` })),
);

export interface CitationCounts {
  /** Ties of a claim to a source: those found, those meant, and those found and meant. */
  found: number;
  meant: number;
  right: number;
}

const NONE: CitationCounts = { found: 0, meant: 0, right: 0 };

function countsOf({ report, style, annotations, gold }: Sample): CitationCounts {
  const ranges = annotations.map(({ text, n }) => {
    const start = report.indexOf(text);
    return { n, start, end: start + text.length };
  });
  const claims = splitClaims({
    report,
    sources: SOURCES,
    ...(style === "supports"
      ? { supports: annotations.map(({ text, n }) => ({ text, urls: [SOURCES[n - 1]?.url ?? ""] })) }
      : { citations: ranges }),
  });
  const ties = (list: readonly { text: string; sources: readonly number[] }[]): Set<string> =>
    new Set(list.flatMap(({ text, sources }) => sources.map((n) => `${text} → ${n}`)));
  const found = ties(claims);
  const meant = ties(gold.map(({ claim, sources }) => ({ text: claim, sources })));
  return { found: found.size, meant: meant.size, right: [...found].filter((tie) => meant.has(tie)).length };
}

const sum = (counts: readonly CitationCounts[]): CitationCounts =>
  counts.reduce(
    (total, { found, meant, right }) => ({
      found: total.found + found,
      meant: total.meant + meant,
      right: total.right + right,
    }),
    NONE,
  );

/** By style and language, and of all samples. */
export function citationCounts(): { groups: Map<string, CitationCounts>; all: CitationCounts } {
  const samples = readSamples();
  const names = [...new Set(samples.map(({ style, lang }) => `${style}, ${lang}`))];
  const groups = new Map(
    names.map((name) => [name, sum(samples.filter(({ style, lang }) => `${style}, ${lang}` === name).map(countsOf))]),
  );
  return { groups, all: sum([...groups.values()]) };
}

export function citations(): Table {
  const { groups, all } = citationCounts();
  const row = (name: string, { found, meant, right }: CitationCounts): string[] => [
    name,
    share(right, found),
    share(right, meant),
  ];
  return {
    title: "Citation attribution",
    columns: ["style, language", "precision", "recall"],
    rows: [row("all", all), ...[...groups].map(([name, counts]) => row(name, counts))],
    notes: [
      "Ties of a claim to a source, with Wilson intervals of 95 %. Reports and labels: bench/data/cited-reports.json.",
    ],
    passed: all.right >= 0.95 * all.meant && all.right >= 0.95 * all.found,
  };
}
