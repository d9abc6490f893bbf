/** Renders the check of a report's citations: the counts, then a table of what was found. */

import { saysInstead, type Verdict, VERDICT_LABELS, VERDICTS } from "../../../claims/evidence.ts";
import type { CitationsAnswer } from "../../../operations/citations/verify-citations.ts";
import { oneLine } from "../../../platform/clean-text.ts";
import { countOf } from "../../../platform/count.ts";
import { type AnswerSpace, nextCommands, shortId } from "../answer-view.ts";
import { formatDollars } from "../durations.ts";
import type { Paint, Style } from "../paint.ts";
import { type Column, tableLines } from "../table.ts";
import { wrapToWidth } from "../words.ts";

type Finding = CitationsAnswer["findings"][number];

const MAX_TEXT_COLUMNS = 100;

const STYLES: Partial<Record<string, Style>> = {
  confirmed: "good",
  likely: "good",
  gone: "bad",
};

const labelOf = (verdict: string): string =>
  VERDICT_LABELS[VERDICTS.find((known) => known === verdict) ?? "not_checked"];

const COLUMNS: Column<Finding>[] = [
  { title: "Verdict", cell: ({ verdict }) => labelOf(verdict), style: ({ verdict }) => STYLES[verdict] },
  { title: "Source", cell: ({ source }) => String(source), align: "right" },
  { title: "Claim", cell: ({ text }) => oneLine(text) },
];

export async function citationsView(answer: CitationsAnswer, space: AnswerSpace): Promise<string> {
  const { findings, task_id: taskId } = answer;
  const { width } = space;
  if (width === undefined) {
    return [answer.message, answer.not_judged ?? "", countLine(answer), ...findings.map(plainLine)]
      .filter((line) => line !== "")
      .join("\n");
  }
  const id = shortId(taskId);
  const others = findings.filter((finding) => !isConflict(finding));
  const wrap = (text: string): string => wrapToWidth(text, Math.min(width, MAX_TEXT_COLUMNS)).join("\n");
  return [
    wrap(answer.message),
    wrap(countLine(answer)),
    wrap(answer.not_judged ?? ""),
    ...findings.filter(isConflict).map((finding) => conflictText(finding, space.paint, wrap)),
    others.length === 0 ? "" : tableLines(COLUMNS, others, { width, paint: space.paint }).join("\n"),
    ...passages(others, wrap),
    space.paint("faint", wrap(MEANING)),
    nextCommands(
      [
        ...(answer.pages.left > 0 ? [["Check the rest", `check ${id}`] as const] : []),
        ["Passages of a source", `check ${id} --source ${findings[0]?.source ?? 1}`],
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

const isConflict = ({ verdict }: Finding): boolean => verdict === "conflict";

/** Whole, because a cut sentence would hide what differs. */
function conflictText({ source, text, page_says: says, passage }: Finding, paint: Paint, wrap: Wrap): string {
  return [
    paint("bad", wrap(`conflict with source ${source}: ${saysInstead(says) ?? ""}`.trim())),
    wrap(oneLine(text)),
    passage === undefined ? "" : paint("faint", wrap(`“${oneLine(passage)}”`)),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

type Wrap = (text: string) => string;

/** The passages of one source are what a reader who names it wants to see. */
function passages(findings: readonly Finding[], wrap: Wrap): string[] {
  if (!findings.every(({ source }) => source === findings[0]?.source)) return [];
  return findings.flatMap(({ passage, reason, probability, judged, checked_at: at }) => {
    const lines = [
      passage === undefined ? "" : `“${oneLine(passage)}”`,
      reason ?? "",
      judged === true && probability !== undefined
        ? `A model finds it ${Math.round(probability * 100)} % likely that the page says this.`
        : "",
      at === undefined ? "" : `Checked ${at}`,
    ];
    const text = lines.filter((line) => line !== "").join(" ");
    return text === "" ? [] : [wrap(text)];
  });
}

function countLine({ counts, pages, independent_domains: domains, copies = [], judge }: CitationsAnswer): string {
  const verdicts = VERDICTS.flatMap((verdict: Verdict) => {
    const count = counts[verdict];
    return count === undefined ? [] : [`${count} ${VERDICT_LABELS[verdict]}`];
  });
  return [
    ...verdicts,
    ...(counts.uncited > 0 ? [`${counts.uncited} without a source`] : []),
    `${pages.checked} of ${pages.cited} pages checked`,
    ...(pages.not_fetched === undefined ? [] : [`${pages.not_fetched} not fetched`]),
    countOf(domains, "independent site"),
    ...copies.map((group) => `sources ${group.join(", ")} have the same text`),
    ...(judge === undefined
      ? []
      : [`judge: ${judge.cost_incomplete === true ? "at least " : ""}${formatDollars(judge.cost_usd)} so far`]),
  ].join(" · ");
}

const plainLine = ({ verdict, source, text, reason, page_says: says, passage }: Finding): string =>
  [labelOf(verdict), source, oneLine(text), saysInstead(says) ?? reason ?? "", oneLine(passage ?? "")].join("\t");
