/** Estimates how long a run still takes: one formula for dashboard, terminal and status. The dashboard bundles it. */

import { durationText } from "../../platform/duration.ts";

/** Minutes that runs of a kind usually take, from Google's figures and the user's own runs. */
export interface UsualMinutes {
  likely: number;
  /** Nearly all of them end within this time. */
  max: number;
}

interface RunTimes {
  /** 0 to 100. */
  progress: number;
  elapsedMs: number;
  usual: UsualMinutes;
}

const MINUTE_MS = 60_000;

/** The share of the likely duration that the progress leaves, within the usual time; 0 once that is over. */
export function minutesLeft({ progress, elapsedMs, usual: { likely, max } }: RunTimes): number {
  const untilMax = max - elapsedMs / MINUTE_MS;
  if (untilMax <= 0) return 0;
  return Math.max(1, Math.round(Math.min(likely * (1 - progress / 100), untilMax)));
}

export const timeLeftText = (minutes: number): string =>
  minutes === 0 ? "longer than usual" : `about ${durationText(minutes * MINUTE_MS)} left`;
