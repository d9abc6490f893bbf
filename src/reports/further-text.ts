/** What can be saved together with a report: follow-ups and tables, which have sources of their own, and verdicts on its citations. */

import { cleanText } from "../platform/clean-text.ts";
import { pageKey } from "./web-address.ts";
import type { CitedRange } from "./citations.ts";
import type { PictureFacts } from "./pictures/picture.ts";
import type { Source } from "./report.ts";

export interface ReportText {
  report: string;
  sources: readonly Source[];
  /** In addition to the citations written in the text. */
  citations?: readonly CitedRange[] | undefined;
  pictures?: readonly PictureFacts[] | undefined;
}

/** A text after the report, in the same document. */
export interface FurtherText extends ReportText {
  heading: string;
  /** The numbers that its sources have in the document. Undefined: a number in it is that of a source of the document. */
  numbers?: ReadonlyMap<number, number> | undefined;
}

/** The sources of all texts in one list, each page once: those of the report keep their numbers. */
export function joinSources(
  own: readonly Source[],
  texts: readonly Omit<FurtherText, "numbers">[],
): { listed: Source[]; texts: FurtherText[] } {
  const listed = [...own];
  const byPage = new Map(own.map((source) => [pageOf(source), source.n]));
  let last = Math.max(0, ...own.map(({ n }) => n));
  const joined = texts.map((text) => {
    const numbers = new Map<number, number>();
    for (const source of text.sources) {
      let n = byPage.get(pageOf(source));
      if (n === undefined) {
        n = last += 1;
        byPage.set(pageOf(source), n);
        listed.push({ ...source, n });
      }
      numbers.set(source.n, n);
    }
    return { ...text, numbers };
  });
  return { listed, texts: joined };
}

const pageOf = ({ url, resolved_url: resolved = url }: Source): string => pageKey(resolved);

export interface VerdictLine {
  /** In words. */
  label: string;
  sentence: string;
  /** Number of the source. */
  source: number;
  /** What the page says instead, or why there is no verdict. */
  note: string;
  /** The passage of the page that is closest to the sentence. */
  passage: string;
}

/** The verdicts as a table. */
export function verdictsText(lines: readonly VerdictLine[]): FurtherText {
  const rows = lines.map(({ label, sentence, source, note, passage }) => {
    const found = [escaped(note), passage === "" ? "" : `“${escaped(passage)}”`].filter((part) => part !== "");
    return `| ${escaped(label)} | ${escaped(sentence)} | [${source}] | ${found.join(" ")} |`;
  });
  const table = ["| Verdict | Sentence | Source | What the page says |", "| --- | --- | --- | --- |", ...rows];
  const report = lines.length === 0 ? "No citation of this report has been checked." : table.join("\n");
  return { heading: "Checked citations", report, sources: [] };
}

/** Text that no reader of Markdown takes for markup. */
const escaped = (text: string): string =>
  cleanText(text)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>|~$#!&]/g, String.raw`\$&`);
