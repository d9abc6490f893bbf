/** The figures as a small table with bars, and a sentence on each estimate. */

import { spokenCost, spokenDollars } from "./durations.ts";
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
  /** Of the middle run. */
  median_minutes: number;
}

/** Over the runs that had an estimate and have the figure; the middle ones. */
export interface Comparison {
  runs: number;
  estimated: number;
  actual: number;
  /** Of the actual figure, above (+) or below (-) the estimate. */
  off_percent: number;
}

export interface Figures {
  total_runs: number;
  total_cost_usd: number;
  cost_incomplete?: true;
  cost_estimated?: true;
  months: MonthFigures[];
  cost_usd?: Comparison | undefined;
  minutes?: Comparison | undefined;
}

export interface FiguresSpace {
  width: number;
  paint: Paint;
}

const MOST_CELLS = 30;
/** What the columns before the bars take, with the gaps between them. */
const OTHER_COLUMNS = 40;
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export function figuresView(figures: Figures, { width, paint }: FiguresSpace): string {
  const { total_runs, months, cost_usd, minutes } = figures;
  const title = `${total_runs} ${total_runs === 1 ? "run" : "runs"}, ${spokenCost({ ...figures, cost_usd: figures.total_cost_usd })} in all`;
  if (months.length === 0) return `${title}. No run has finished yet.`;
  const said = [
    ...(cost_usd === undefined ? [] : [sentence("Cost", cost_usd, spokenDollars)]),
    ...(minutes === undefined ? [] : [sentence("Time", minutes, (value) => `${value} min`)]),
  ];
  return [
    paint("strong", title),
    "",
    ...tableLines(columns(months, width), months, { width, paint }),
    ...(said.length === 0 ? [] : ["", ...said.flatMap((line) => wrapToWidth(line, width))]),
  ].join("\n");
}

function columns(months: MonthFigures[], width: number): Column<MonthFigures>[] {
  const most = Math.max(...months.map(({ cost_usd }) => cost_usd));
  const cells = Math.max(4, Math.min(MOST_CELLS, width - OTHER_COLUMNS));
  return [
    { title: "MONTH", cell: ({ month }) => month },
    { title: "RUNS", cell: ({ runs }) => String(runs), align: "right" },
    { title: "TYPICAL", cell: ({ median_minutes }) => `${median_minutes} min`, align: "right", dropped: 1 },
    { title: "COST", cell: spokenCost, align: "right" },
    { title: "", cell: ({ cost_usd }) => bar(most === 0 ? 0 : cost_usd / most, cells), look: () => "accent" },
  ];
}

/** To an eighth of a character; what is not nothing is seen. */
export function bar(share: number, cells: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * cells * 8);
  const shown = share > 0 ? Math.max(1, eighths) : 0;
  return "█".repeat(shown >> 3) + (EIGHTHS[shown & 7] ?? "");
}

function sentence(what: string, { runs, estimated, actual, off_percent }: Comparison, say: (value: number) => string) {
  const off = off_percent === 0 ? "as estimated" : `${Math.abs(off_percent)} % ${off_percent > 0 ? "above" : "below"}`;
  const over = `${runs} ${runs === 1 ? "run" : "runs"}`;
  return `${what} against estimate, typically, over ${over}: ${say(actual)} for ${say(estimated)}, ${off}.`;
}
