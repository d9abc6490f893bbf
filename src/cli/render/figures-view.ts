/** Renders the figures as a table with bars, and a sentence on each estimate. */

import { formatCost, formatDollars } from "./durations.ts";
import type { Paint } from "./paint.ts";
import { type Column, tableLines } from "./table.ts";
import { wrapToWidth } from "./text-width.ts";

export interface MonthFigures {
  /** `2026-11`, UTC. */
  month: string;
  runs: number;
  cost_usd: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  median_minutes: number;
}

/** Medians over the runs with both an estimate and the actual figure. */
export interface Comparison {
  runs: number;
  estimated: number;
  actual: number;
  /** How far the actual figure is above (+) or below (-) the estimate. */
  off_percent: number;
}

export interface Figures {
  total_runs: number;
  /** Part of the total; the months count finished runs only. */
  unfinished_runs: number;
  total_cost_usd: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  /** Part of the total: models that judged citations. */
  judge_cost_usd?: number;
  months: MonthFigures[];
  cost_usd?: Comparison | undefined;
  minutes?: Comparison | undefined;
}

export interface FiguresSpace {
  width: number;
  paint: Paint;
}

const MAX_BAR_CELLS = 30;
/** Width of the columns before the bars, with gaps. */
const OTHER_COLUMNS_WIDTH = 40;
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export function figuresView(figures: Figures, { width, paint }: FiguresSpace): string {
  const { total_runs, months, cost_usd, minutes } = figures;
  const unfinished = figures.unfinished_runs === 0 ? "" : ` (${figures.unfinished_runs} unfinished)`;
  const title = `${total_runs} ${total_runs === 1 ? "run" : "runs"}${unfinished}, ${formatCost({ ...figures, cost_usd: figures.total_cost_usd })} total`;
  if (months.length === 0) return `${title}. No run has finished yet.`;
  const sentences = [
    ...(figures.judge_cost_usd === undefined
      ? []
      : [`${formatDollars(figures.judge_cost_usd)} of it for judged citations.`]),
    ...(cost_usd === undefined ? [] : [sentence("cost", cost_usd, formatDollars)]),
    ...(minutes === undefined ? [] : [sentence("time", minutes, formatMinutes)]),
  ];
  return [
    paint("strong", title),
    "",
    ...tableLines(columns(months, width), months, { width, paint }),
    ...(sentences.length === 0 ? [] : ["", ...sentences.flatMap((line) => wrapToWidth(line, width))]),
  ].join("\n");
}

function columns(months: MonthFigures[], width: number): Column<MonthFigures>[] {
  const maxUsd = Math.max(...months.map(({ cost_usd }) => cost_usd));
  const cells = Math.max(4, Math.min(MAX_BAR_CELLS, width - OTHER_COLUMNS_WIDTH));
  return [
    { title: "MONTH", cell: ({ month }) => month },
    { title: "RUNS", cell: ({ runs }) => String(runs), align: "right" },
    { title: "TYPICAL", cell: ({ median_minutes }) => formatMinutes(median_minutes), align: "right", dropped: 1 },
    { title: "COST", cell: formatCost, align: "right" },
    { title: "", cell: ({ cost_usd }) => bar(maxUsd === 0 ? 0 : cost_usd / maxUsd, cells), style: () => "accent" },
  ];
}

const formatMinutes = (minutes: number): string => (minutes < 1 ? `${Math.round(minutes * 60)} s` : `${minutes} min`);

/** A bar exact to an eighth of a character; any share above 0 is visible. */
export function bar(share: number, cells: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * cells * 8);
  const shown = share > 0 ? Math.max(1, eighths) : 0;
  return "█".repeat(shown >> 3) + (EIGHTHS[shown & 7] ?? "");
}

function sentence(
  what: string,
  { runs, estimated, actual, off_percent }: Comparison,
  format: (value: number) => string,
) {
  const side = off_percent > 0 ? "above" : "below";
  const off =
    off_percent === 0 ? "as estimated" : `${Math.abs(off_percent)} % ${side} the ${format(estimated)} estimate`;
  return `Typical ${what}: ${format(actual)}, ${off} (${runs} ${runs === 1 ? "run" : "runs"}).`;
}
