/** Renders the check of a report's citations: the counts, then each finding with what the page says. */

import { saysInstead, type Verdict, verdictLabel, VERDICTS } from "../../../claims/evidence.ts";
import type { CitationsAnswer } from "../../../operations/citations/verify-citations.ts";
import { oneLine } from "../../../platform/clean-text.ts";
import { countOf } from "../../../platform/count.ts";
import { type AnswerSpace, nextCommands, shortId } from "../answer-view.ts";
import { formatDollars } from "../../../costs/dollars.ts";
import type { Style } from "../paint.ts";
import { cutToWidth } from "../text-width.ts";
import { wrapToWidth } from "../words.ts";

type Finding = CitationsAnswer["findings"][number];

const MAX_TEXT_COLUMNS = 100;

const STYLES: Partial<Record<string, Style>> = { conflict: "bad", gone: "bad", confirmed: "good", likely: "good" };

const labelOf = (verdict: string): string => verdictLabel(VERDICTS.find((known) => known === verdict) ?? "not_checked");

export async function citationsView(answer: CitationsAnswer, space: AnswerSpace): Promise<string> {
  const { findings, task_id: taskId } = answer;
  const { width, paint } = space;
  if (width === undefined) {
    return [answer.message, answer.not_judged ?? "", countLine(answer), ...findings.map(plainLine)]
      .filter((line) => line !== "")
      .join("\n");
  }
  const id = shortId(taskId);
  const columns = Math.min(width, MAX_TEXT_COLUMNS);
  const wrap = (text: string): string => wrapToWidth(text, columns).join("\n");
  const shown = findings.map((finding) => {
    const [title, text, ...details] = findingLines(finding, columns);
    const head = paint(STYLES[finding.verdict] ?? "careful", wrap(title ?? ""));
    return [head, wrap(text ?? ""), ...details.map((line) => paint("faint", wrap(line)))].join("\n");
  });
  return [
    wrap(answer.message),
    wrap(countLine(answer)),
    wrap(answer.not_judged ?? ""),
    ...shown,
    findings.length === 0 ? "" : paint("faint", wrap(MEANING)),
    nextCommands(
      [
        ...(answer.pages.left > 0 ? [["Check the rest", `check ${id}`] as const] : []),
        ...(findings[0] === undefined ? [] : [["One source", `check ${id} --source ${findings[0].source}`] as const]),
        ["Read the report", `show ${id}`],
      ],
      space,
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const MEANING =
  "“not found” does not count against a claim: the page may say it in other words. Nothing is written into the report.";

/**
 * The verdict, the whole sentence, and the passage: in one line, unless it is in conflict, or the reader has named its
 * source.
 */
function findingLines(finding: Finding, columns: number): string[] {
  const { verdict, source, text, reason, page_says: says, passage, probability, judged, checked_at: at } = finding;
  const because = saysInstead(says) ?? reason;
  const quoted = passage === undefined ? "" : `“${oneLine(passage)}”`;
  const isWhole = verdict === "conflict" || at !== undefined;
  return [
    `${labelOf(verdict)}, source ${source}${because === undefined ? "" : `: ${because}`}`,
    oneLine(text),
    isWhole ? quoted : cutToWidth(quoted, columns),
    judged === true && probability !== undefined
      ? `A model finds it ${Math.round(probability * 100)} % likely that the page says this.`
      : "",
    at === undefined ? "" : `Checked ${at}`,
  ].filter((line) => line !== "");
}

function countLine({ counts, pages, independent_domains: domains, copies = [], judge }: CitationsAnswer): string {
  const verdicts = VERDICTS.flatMap((verdict: Verdict) => {
    const count = counts[verdict];
    return count === undefined ? [] : [`${count} ${verdictLabel(verdict)}`];
  });
  const { checked, cited, not_fetched: notFetched, not_reached: notReached } = pages;
  return [
    // Where no page was read, each sentence has the same verdict.
    ...(checked === 0 ? [] : verdicts),
    ...(counts.uncited > 0 ? [`${counts.uncited} without a source`] : []),
    `${checked} of ${cited} pages checked`,
    ...(notFetched === undefined ? [] : [`${notFetched} not fetched`]),
    ...(notReached === undefined ? [] : [`${notReached} not reached`]),
    ...(domains === 0 ? [] : [countOf(domains, "independent site")]),
    ...copies.map((group) => `sources ${group.join(", ")} have the same text`),
    ...(judge === undefined
      ? []
      : [`judge: ${judge.cost_incomplete === true ? "at least " : ""}${formatDollars(judge.cost_usd)} so far`]),
  ].join(" · ");
}

const plainLine = ({ verdict, source, text, reason, page_says: says, passage }: Finding): string =>
  [labelOf(verdict), source, oneLine(text), saysInstead(says) ?? reason ?? "", oneLine(passage ?? "")].join("\t");
