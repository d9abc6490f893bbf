/** `costs`: cost and number of finished runs by month and kind. */

import type { App } from "../../app.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { countOf } from "../../platform/count.ts";
import { readUsage, type Usage, type UsageSum } from "../../runs/history/figures-store.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { answerWidth } from "../output.ts";
import { formatCost, formatDollars, formatDuration } from "../render/durations.ts";
import { KIND_LABELS } from "../render/list-view.ts";
import { type Paint, paintFor } from "../render/paint.ts";
import { type Column, tableLines } from "../render/table.ts";

/** Width when stdout is not a terminal. */
const PLAIN_WIDTH = 80;
const MINUTE_MS = 60_000;

export const printCosts = ({ json }: { json: boolean }): Promise<void> => runAnswer(json, answer);

async function answer({ deps }: App): Promise<Answer> {
  const usage = await readUsage(await deps.database(), LOCAL_OWNER, deps.clock.now());
  const text = usageText(usage, { width: answerWidth() ?? PLAIN_WIDTH, paint: paintFor(process.stdout) });
  return { structured: { success: true, ...usage }, text };
}

function usageText(usage: Usage, { width, paint }: { width: number; paint: Paint }): string {
  const { total_runs: total, unfinished_runs: unfinished, months, kinds, judge_cost_usd: judged } = usage;
  const title = `${countOf(total, "run")}${unfinished === 0 ? "" : ` (${unfinished} unfinished)`}, ${formatCost({ ...usage, cost_usd: usage.total_cost_usd })} total`;
  if (months.length === 0) return `${title}. No run has finished yet.`;
  const table = <Row extends UsageSum>(name: string, rows: Row[], nameOf: (row: Row) => string): string[] =>
    tableLines([{ title: name, cell: nameOf }, ...SUMS], rows, { width, paint });
  return [
    paint("strong", title),
    ...(judged === undefined ? [] : [`${formatDollars(judged)} of it for judged citations.`]),
    "",
    ...table("MONTH", months, ({ month }) => month),
    "",
    ...table("KIND", kinds, ({ kind }) => KIND_LABELS[kind] ?? kind),
  ].join("\n");
}

const SUMS: Column<UsageSum>[] = [
  { title: "RUNS", cell: ({ runs }) => String(runs), align: "right" },
  { title: "COST", cell: formatCost, align: "right" },
  {
    title: "AVERAGE TIME",
    cell: ({ average_minutes: minutes }) => (minutes === undefined ? "–" : formatDuration(minutes * MINUTE_MS)),
    align: "right",
  },
];
