/** Runs as a table: short ids that commands take, and as much of each question as the window holds. */

import type { listResearch } from "../../operations/list-research.ts";
import type { OutputOf } from "../../operations/operation.ts";
import type { TerminalSpace } from "./answer-view.ts";
import { spokenAge, spokenCost } from "./durations.ts";
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

/** Where the words stand, below their run. */
const foundLine = (run: ListedRun | undefined, { width, paint }: Omit<TerminalSpace, "now">): string[] =>
  run?.found === undefined || run.found === ""
    ? []
    : [paint("faint", cutToWidth(`          ${run.found.replaceAll(/\s+/g, " ").trim()}`, width))];

const columns = (now: number): Column<ListedRun>[] => [
  { title: "ID", cell: ({ task_id }) => task_id.slice(0, 8), look: () => "accent" },
  { title: "STATE", cell: stateCell, look: ({ status }) => stateOf(status).look },
  { title: "AGE", cell: ({ created_at }) => spokenAge(now - Date.parse(created_at)), align: "right", dropped: 3 },
  {
    title: "COST",
    cell: (run) => (run.cost_usd === undefined ? "" : spokenCost(run)),
    align: "right",
    dropped: 2,
  },
  { title: "KIND", cell: ({ kind }) => KINDS[kind] ?? kind, dropped: 1 },
  { title: "QUESTION", cell: ({ query }) => query.replaceAll(/\s+/g, " ") },
];

/** An unfinished one says how far it is. */
const stateCell = ({ status, progress }: ListedRun): string =>
  status === "running" || status === "running_async" ? `${Math.round(progress)} %` : stateOf(status).said.toLowerCase();

/** `agent` is the name of the table's column, not of anything the user asked for. */
const KINDS: Record<string, string> = { agent: "research", deep_search: "deep", deep_research: "report" };
