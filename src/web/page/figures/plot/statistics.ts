/** Statistics of the finished runs: totals, medians, months, and the accuracy of estimates. */

import type { FinishedRun } from "../../../wire-figures.ts";

export type Kind = FinishedRun["kind"];
export type Period = "all" | "year" | "quarter" | "month";

export const PERIODS: { period: Period; name: string; days: number }[] = [
  { period: "all", name: "All time", days: Number.POSITIVE_INFINITY },
  { period: "year", name: "Last 365 days", days: 365 },
  { period: "quarter", name: "Last 90 days", days: 90 },
  { period: "month", name: "Last 30 days", days: 30 },
];

const DAY_MS = 86_400_000;

export interface FiguresFilter {
  kind: Kind | "all";
  period: Period;
}

export function filterRuns(runs: FinishedRun[], { kind, period }: FiguresFilter, now: number): FinishedRun[] {
  const days = PERIODS.find((known) => known.period === period)?.days ?? Number.POSITIVE_INFINITY;
  return runs.filter(
    (run) => (kind === "all" || run.kind === kind) && now - Date.parse(run.completed_at) <= days * DAY_MS,
  );
}

export function median(values: number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
}

export interface KindSummary {
  kind: Kind;
  runs: number;
  cost: number;
  medianCost: number | undefined;
  medianMinutes: number | undefined;
}

const KIND_ORDER: Kind[] = ["agent", "followup", "deep_research", "deep_search", "search"];

/** Only kinds that occur. Medians use completed runs only. */
export function summariesByKind(runs: FinishedRun[]): KindSummary[] {
  return KIND_ORDER.flatMap((kind) => {
    const ofKind = runs.filter((run) => run.kind === kind);
    if (ofKind.length === 0) return [];
    const whole = ofKind.filter(({ status }) => status === "completed");
    return {
      kind,
      runs: ofKind.length,
      cost: totalCost(ofKind),
      medianCost: median(whole.flatMap(({ cost_usd }) => cost_usd ?? [])),
      medianMinutes: median(whole.map(({ duration_minutes }) => duration_minutes)),
    };
  });
}

/** Of a run and of the judge of its citations. */
export const spentOn = ({ cost_usd = 0, judge_cost_usd = 0 }: FinishedRun): number => cost_usd + judge_cost_usd;

export const totalCost = (runs: FinishedRun[]): number => runs.reduce((sum, run) => sum + spentOn(run), 0);

/** A sum is incomplete or estimated if one of its runs is. */
export const marksOf = (runs: FinishedRun[]): Pick<FinishedRun, "cost_incomplete" | "cost_estimated"> => ({
  ...(runs.some(({ cost_incomplete }) => cost_incomplete === true) ? { cost_incomplete: true } : {}),
  ...(runs.some(({ cost_estimated }) => cost_estimated === true) ? { cost_estimated: true } : {}),
});

/** For each run the month's cost so far, in the browser's time zone. */
export function monthTotals(runs: FinishedRun[]): number[] {
  let month = "";
  let total = 0;
  return runs.map((run) => {
    const at = new Date(run.completed_at);
    const current = `${at.getFullYear()}-${at.getMonth()}`;
    total = (current === month ? total : 0) + spentOn(run);
    month = current;
    return total;
  });
}

export interface LinePoint {
  /** Seconds since 1970. */
  x: number;
  total: number;
}

/** The month totals as a line that drops to zero at the end of a month. */
export function monthLine(runs: FinishedRun[]): LinePoint[] {
  const totals = monthTotals(runs);
  return runs.flatMap(({ completed_at }, index) => {
    const point = { x: Date.parse(completed_at) / 1_000, total: totals[index] ?? 0 };
    const before = runs[index - 1];
    if (before === undefined) return point;
    const last = new Date(before.completed_at);
    const nextMonth = new Date(last.getFullYear(), last.getMonth() + 1).getTime() / 1_000;
    return nextMonth <= point.x ? [{ x: nextMonth, total: 0 }, point] : point;
  });
}

export interface Compared {
  run: FinishedRun;
  min: number;
  likely: number;
  max: number;
  actual: number;
}

/** Smallest estimate first. Completed runs only: a cancelled run costs less than estimated. */
export function comparedRuns(runs: FinishedRun[]): Compared[] {
  return runs
    .flatMap((run) => {
      const { cost_usd: actual, estimated_usd: estimate } = run;
      if (actual === undefined || estimate === undefined || run.status !== "completed") return [];
      return { run, ...estimate, actual };
    })
    .toSorted((one, other) => one.likely - other.likely);
}

const ACCURATE_RATIO = 0.1;
/** Tolerance for floating point rounding. */
const ROUNDING = 1e-9;

export interface Accuracy {
  compared: number;
  withinRange: number;
  withinTenth: number;
}

export const isWithinRange = ({ min, max, actual }: Compared): boolean =>
  actual >= min - ROUNDING && actual <= max + ROUNDING;

const isWithinTenth = ({ likely, actual }: Compared): boolean =>
  Math.abs(actual - likely) <= likely * ACCURATE_RATIO + ROUNDING;

export const accuracyOf = (compared: Compared[]): Accuracy => ({
  compared: compared.length,
  withinRange: compared.filter(isWithinRange).length,
  withinTenth: compared.filter(isWithinTenth).length,
});

export const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`;

/** The mark nearest to the pointer within `reach`. Compares squares, because there may be thousands of marks. */
export function nearestMark(
  marks: readonly { x: number; y: number }[],
  pointer: { x: number; y: number },
  reach: number,
): number | undefined {
  let best: number | undefined;
  let bestSquare = reach * reach;
  for (const [index, { x, y }] of marks.entries()) {
    const square = (x - pointer.x) ** 2 + (y - pointer.y) ** 2;
    if (square <= bestSquare) {
      best = index;
      bestSquare = square;
    }
  }
  return best;
}
