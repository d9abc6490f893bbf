/** Short texts for durations and costs. */

import { formatDollars } from "../../costs/dollars.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `45 s`, `3 min 12 s`, `1 h 4 min`, `12 d`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return `${Math.floor(whole / 1_000)} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${Math.floor((whole % MINUTE) / 1_000)} s`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
  return `${Math.floor(whole / DAY)} d`;
}

/** The largest unit only, for a column. */
export function formatAge(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < MINUTE) return "now";
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h`;
  return `${Math.floor(whole / DAY)} d`;
}

/** A cost with its marks: `≥` for a lower bound, `≈` where a model was priced by its family. */
export function formatCost(cost: StatedCost): string {
  const mark = costMark(cost);
  return `${mark === "" ? "" : `${mark} `}${formatDollars(cost.cost_usd ?? 0)}`;
}

export const costMark = ({ cost_incomplete, cost_estimated }: StatedCost): "≥" | "≈" | "" =>
  cost_incomplete === true ? "≥" : cost_estimated === true ? "≈" : "";

interface StatedCost {
  cost_usd?: number | undefined;
  cost_incomplete?: boolean | undefined;
  cost_estimated?: boolean | undefined;
}
