/** Usage by day and by month, in the browser's time zone. */

import type { FinishedRun } from "../../wire-figures.ts";
import { totalCost } from "./plot/statistics.ts";

export interface Usage {
  /** "Mon, Nov 16" or "November 2026". */
  name: string;
  runs: number;
  cost: number;
}

const SHOWN_DAYS = 14;
const SHOWN_MONTHS = 12;

/** The last two weeks, newest first, days without a run included. */
export function usageByDay(runs: readonly FinishedRun[], now: Date): Usage[] {
  const named = new Intl.DateTimeFormat("en-US", { weekday: "short", month: "short", day: "numeric" });
  const days = Array.from({ length: SHOWN_DAYS }, (_, ago) => dayBefore(now, ago));
  return usageOf(runs, days, { named, keyOf: (date) => date.toDateString() });
}

/** The last year, newest first, from the month of the oldest run on. */
export function usageByMonth(runs: readonly FinishedRun[], now: Date): Usage[] {
  const named = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric" });
  const oldest = runs.reduce((least, { completed_at }) => Math.min(least, Date.parse(completed_at)), now.getTime());
  const months = Array.from({ length: SHOWN_MONTHS }, (_, ago) => new Date(now.getFullYear(), now.getMonth() - ago, 1));
  const first = new Date(oldest);
  const shown = months.filter((month) => month >= new Date(first.getFullYear(), first.getMonth(), 1));
  return usageOf(runs, shown, { named, keyOf: (date) => `${date.getFullYear()}-${date.getMonth()}` });
}

/** At noon, because a day can have 23 or 25 hours. */
const dayBefore = (now: Date, days: number): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - days, 12);

interface Naming {
  named: Intl.DateTimeFormat;
  keyOf: (date: Date) => string;
}

function usageOf(runs: readonly FinishedRun[], periods: Date[], { named, keyOf }: Naming): Usage[] {
  const keyed = runs.map((run) => ({ run, key: keyOf(new Date(run.completed_at)) }));
  return periods.map((period) => {
    const ofPeriod = keyed.filter(({ key }) => key === keyOf(period)).map(({ run }) => run);
    return { name: named.format(period), runs: ofPeriod.length, cost: totalCost(ofPeriod) };
  });
}
