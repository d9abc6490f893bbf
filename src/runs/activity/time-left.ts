/**
 * How much a run has searched and how long it still takes, worded once for page, terminal and status. The page
 * bundles it.
 */

import { durationText } from "../../platform/duration.ts";

/** Minutes that runs of a kind usually take, from Google's figures and the user's own runs. */
export interface UsualMinutes {
  likely: number;
  /** Nearly all of them end within this time. */
  max: number;
}

interface RunTimes {
  /** 0 to 100; 0 while nothing of the work was seen. */
  progress: number;
  elapsedMs: number;
  usual: UsualMinutes;
}

const MINUTE_MS = 60_000;
/** The share of the likely duration that time alone never takes away: a run that lasts longer is not about to end. */
const MIN_SHARE_LEFT = 0.1;

/**
 * The share of the likely duration that the elapsed time and the progress leave, within the usual time; 0 once that is
 * over.
 */
export function minutesLeft({ progress, elapsedMs, usual: { likely, max } }: RunTimes): number {
  const minutes = Math.max(0, elapsedMs) / MINUTE_MS;
  const untilMax = max - minutes;
  if (untilMax <= 0) return 0;
  const shareLeft = Math.min(1 - progress / 100, Math.max(MIN_SHARE_LEFT, Math.exp(-minutes / likely)));
  return Math.max(1, Math.round(Math.min(likely * shareLeft, untilMax)));
}

export const timeLeftText = (minutes: number): string =>
  minutes === 0 ? "longer than usual" : `about ${durationText(minutes * MINUTE_MS)} left`;

/** "12 searches · 34 sites"; undefined before the first of them. */
export function activityCounts({ searches, sites }: { searches: number; sites: number }): string | undefined {
  const counted = [counts(searches, "search", "searches"), counts(sites, "site", "sites")].filter(
    (text) => text !== "",
  );
  return counted.length === 0 ? undefined : counted.join(" · ");
}

const counts = (count: number, one: string, many: string): string =>
  count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
