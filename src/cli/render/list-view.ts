/** Renders runs as a table with the short ids that commands accept, fitted to the window. */

import type { listResearch } from "../../operations/list-research.ts";
import type { OutputOf } from "../../operations/operation.ts";
import type { TerminalSpace } from "./answer-view.ts";
import { formatAge, formatCost } from "./durations.ts";
import { stateOf } from "./run-frame.ts";
import { type Column, tableLines } from "./table.ts";
import { cutToWidth } from "./text-width.ts";

export type RunList = OutputOf<typeof listResearch>;
type ListedRun = RunList["runs"][number];

export function listView({ runs, next_cursor }: RunList, { width, paint, now }: TerminalSpace): string {
  if (runs.length === 0) return "There are no such runs.";
  const more = next_cursor === undefined ? [] : ["", paint("faint", `More: --cursor ${next_cursor}`)];
  const [titles = "", ...lines] = tableLines(columns(now), runs, { width, paint });
  return [titles, ...lines.flatMap((line, index) => [line, ...foundLine(runs[index], { width, paint })]), ...more].join(
    "\n",
  );
}

/** The excerpt with the searched words, below its run. */
const foundLine = (run: ListedRun | undefined, { width, paint }: Omit<TerminalSpace, "now">): string[] =>
  run?.found === undefined || run.found === ""
    ? []
    : [paint("faint", cutToWidth(`          ${run.found.replaceAll(/\s+/g, " ").trim()}`, width))];

const columns = (now: number): Column<ListedRun>[] => [
  { title: "ID", cell: ({ task_id }) => task_id.slice(0, 8), style: () => "accent" },
  { title: "STATE", cell: stateCell, style: ({ status }) => stateOf(status).style },
  { title: "AGE", cell: ({ created_at }) => formatAge(now - Date.parse(created_at)), align: "right", dropped: 3 },
  {
    title: "COST",
    cell: (run) => (run.cost_usd === undefined ? "" : formatCost(run)),
    align: "right",
    dropped: 2,
  },
  { title: "KIND", cell: ({ kind }) => KINDS[kind] ?? kind, dropped: 1 },
  { title: "QUESTION", cell: ({ query }) => query.replaceAll(/\s+/g, " ") },
];

/** The state; for an unfinished run its progress. */
const stateCell = ({ status, progress }: ListedRun): string =>
  status === "running" || status === "running_async"
    ? `${Math.round(progress)} %`
    : stateOf(status).label.toLowerCase();

/** Short names of the kinds. */
const KINDS: Record<string, string> = { agent: "research", deep_search: "deep", deep_research: "report" };
