/** Renders runs as a table with the short ids that commands accept, fitted to the window; for scripts as tab-separated rows. */

import type { listLibrary } from "../../operations/list-research.ts";
import type { OutputOf } from "../../operations/operation.ts";
import { KIND_NAMES } from "../../runs/run.ts";
import { type AnswerSpace, shortId } from "./answer-view.ts";
import { costMark, formatAge, formatCost } from "./durations.ts";
import { stateOf } from "./run-frame.ts";
import { type Column, tableLines } from "./table.ts";
import { cutToWidth } from "./text-width.ts";

export type RunList = OutputOf<typeof listLibrary>;
type ListedRun = RunList["runs"][number];

export function listView(list: RunList, { width, ...space }: AnswerSpace): string {
  return width === undefined ? listRows(list) : listTable(list, { ...space, width });
}

/** Tab-separated and without titles, for scripts: id, status, kind, start, cost in dollars, question. */
const listRows = ({ runs }: RunList): string =>
  runs
    .map((run) => {
      const { task_id, status, kind, created_at, cost_usd: usd, query } = run;
      return [
        task_id,
        status,
        kind,
        created_at,
        usd === undefined ? "" : `${costMark(run)}${usd}`,
        withoutBreaks(query),
      ].join("\t");
    })
    .join("\n");

const withoutBreaks = (text: string): string => text.replaceAll(/\s+/g, " ");

const MAX_LIMIT = 100;

function listTable(
  { runs: listed, next_cursor: cursor, left_out: failed, roots = {} }: RunList,
  { width, paint, now }: TableSpace,
): string {
  const { runs, laterOf } = folded(listed, roots);
  const others = failed === undefined ? [] : ["", paint("faint", leftOutText(failed))];
  if (runs.length === 0) return ["No matching runs.", ...others].join("\n");
  // A cursor is too long to type, so more rows are asked for while that is possible.
  const more = listed.length < MAX_LIMIT ? `--limit ${MAX_LIMIT}` : `--cursor ${cursor}`;
  const rest = cursor === undefined ? [] : ["", paint("faint", `There are more: add ${more}`)];
  const [titles = "", ...lines] = tableLines(columnsFor(runs, now), runs, { width, paint });
  return [
    titles,
    ...lines.flatMap((line, index) => [
      line,
      ...foundLine(runs[index], { width, paint }),
      ...laterLine(laterOf.get(runs[index]?.task_id ?? ""), paint),
    ]),
    ...others,
    ...rest,
  ].join("\n");
}

const leftOutText = (count: number): string =>
  `${count === 1 ? "1 start" : `${count} starts`} that failed and cost nothing: add --status failed`;

/**
 * Follow-ups and tables below the run that they belong to, where its newest run is, as on the page. One that a search has
 * found, or whose run is on another page of the list, stays a row.
 */
function folded(
  runs: RunList["runs"],
  roots: Readonly<Record<string, string>>,
): { runs: RunList["runs"]; laterOf: ReadonlyMap<string, RunList["runs"]> } {
  const byId = new Map(runs.map((run) => [run.task_id, run]));
  const isFolded = ({ task_id, found }: ListedRun): boolean => found === undefined && byId.has(roots[task_id] ?? "");
  const laterOf = Map.groupBy(runs.filter(isFolded), ({ task_id }) => roots[task_id] ?? "");
  const shown = new Set(runs.map((run) => (isFolded(run) ? byId.get(roots[run.task_id] ?? "") : run)));
  return { runs: [...shown].filter((run) => run !== undefined), laterOf };
}

function laterLine(later: RunList["runs"] | undefined, paint: TableSpace["paint"]): string[] {
  if (later === undefined) return [];
  const count = later.length === 1 ? "1 follow-up" : `${later.length} follow-ups`;
  // What is still to come, or needs attention, must not be folded away.
  const others = new Set(later.filter(({ status }) => status !== "completed").map((run) => stateCell(run)));
  return [paint("faint", `          + ${[count, ...others].join(", ")}`)];
}

type TableSpace = Pick<AnswerSpace, "paint" | "now"> & { width: number };

/** The excerpt with the searched words, below its run, unless the run is shown by the same text. */
function foundLine(run: ListedRun | undefined, { width, paint }: Omit<TableSpace, "now">): string[] {
  const found = withoutBreaks(run?.found ?? "").trim();
  if (run === undefined || found === "" || found === withoutBreaks(run.title ?? run.query).trim()) return [];
  return [paint("faint", cutToWidth(`          ${found}`, width))];
}

const columnsFor = (runs: RunList["runs"], now: number): Column<ListedRun>[] => [
  { title: "ID", cell: ({ task_id }) => shortId(task_id), style: () => "accent" },
  { title: "STATUS", cell: stateCell, style: ({ status }) => stateOf(status).style },
  { title: "AGE", cell: ({ created_at }) => formatAge(now - Date.parse(created_at)), align: "right", dropped: 3 },
  {
    title: "COST",
    cell: (run) => (run.cost_usd === undefined ? "" : formatCost(run)),
    align: "right",
    dropped: 2,
  },
  { title: "KIND", cell: kindCell, dropped: 1 },
  { title: "QUESTION", cell: (run) => `${marksOf(runs, run)}${withoutBreaks(run.title ?? run.query)}` },
];

/** Archived runs are marked where there are others, as among the results of a search. */
const marksOf = (runs: RunList["runs"], { starred, archived, tags = [] }: ListedRun): string => {
  const isAmongOthers = archived === true && runs.some((other) => other.archived !== true);
  return `${starred === true ? "★ " : ""}${isAmongOthers ? "[archived] " : ""}${tags.map((tag) => `#${tag} `).join("")}`;
};

/** The state; for an unfinished run its progress, as soon as something of it was seen. */
const stateCell = ({ status, progress }: ListedRun): string =>
  (status === "running" || status === "running_async") && progress > 0
    ? `${Math.round(progress)} %`
    : (SHORT_STATES[status] ?? stateOf(status).label.toLowerCase());

/** A longer word would narrow the column of questions in every row. */
const SHORT_STATES: Partial<Record<ListedRun["status"], string>> = {
  awaiting_approval: "plan",
  start_unknown: "unknown",
};

const kindCell = ({ kind, follow_up: isFollowup, imported }: ListedRun): string =>
  imported === true ? "imported" : KIND_NAMES[isFollowup === true ? "followup" : kind].toLowerCase();
