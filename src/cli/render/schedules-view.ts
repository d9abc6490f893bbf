/** Renders schedules as a table, each with why its last run did not start; for scripts as tab-separated rows. */

import type { ScheduleAnswer } from "../../operations/schedules/schedule-research.ts";
import { formatDollars } from "../../costs/dollars.ts";
import { type AnswerSpace, shortId } from "./answer-view.ts";
import { type Column, tableLines } from "./table.ts";
import { cutToWidth } from "./text-width.ts";

type Listed = NonNullable<ScheduleAnswer["schedules"]>[number];

export function schedulesView({ message, schedules }: ScheduleAnswer, { width, paint }: AnswerSpace): string {
  if (width === undefined) return schedules.map(rowOf).join("\n");
  const [titles = "", ...lines] = schedules.length === 0 ? [] : tableLines(COLUMNS, schedules, { width, paint });
  const rows = lines.flatMap((line, index) => {
    const problem = schedules[index]?.problem;
    return problem === undefined ? [line] : [line, paint("bad", cutToWidth(`          ${problem}`, width))];
  });
  return [message, ...(schedules.length === 0 ? [] : [titles, ...rows])].join("\n");
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Tab-separated and without titles, for scripts: id, state, depth, next run, last run, used, budget, rule, question. */
const rowOf = (one: Listed): string =>
  [
    one.schedule_id,
    one.state,
    one.depth,
    one.next_at ?? "",
    one.last?.task_id ?? "",
    one.used_usd,
    one.budget_usd,
    one.when,
    oneLine(one.query),
  ].join("\t");

const COLUMNS: Column<Listed>[] = [
  { title: "ID", cell: ({ schedule_id }) => schedule_id, style: () => "accent" },
  { title: "NEXT", cell: ({ state, next_at }) => (next_at === undefined ? state : localTime(next_at)) },
  { title: "LAST RUN", cell: ({ last }) => (last === undefined ? "" : shortId(last.task_id)), dropped: 2 },
  {
    title: "USED",
    cell: ({ used_usd: used, budget_usd: budget }) => `${formatDollars(used)} of ${formatDollars(budget)}`,
    align: "right",
    dropped: 3,
  },
  { title: "WHEN", cell: ({ when }) => when, dropped: 1 },
  { title: "QUESTION", cell: ({ query }) => oneLine(query) },
];

/** `2026-11-23 07:00`, in the time zone of the terminal. */
const localTime = (iso: string): string =>
  new Date(iso).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
