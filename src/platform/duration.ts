/** Formats a duration, such as "45 s", "12 min" or "1 h 5 min". */
export function durationText(ms: number): string {
  // Negative if the clock was set back meanwhile.
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long ago something was, such as "a minute ago" or "3 days ago". */
export function agoText(ms: number): string {
  if (ms < MINUTE_MS) return "less than a minute ago";
  if (ms < HOUR_MS) return unitsAgo(Math.floor(ms / MINUTE_MS), "a minute", "minutes");
  if (ms < DAY_MS) return unitsAgo(Math.floor(ms / HOUR_MS), "an hour", "hours");
  return unitsAgo(Math.floor(ms / DAY_MS), "a day", "days");
}

const unitsAgo = (count: number, one: string, many: string): string => `${count === 1 ? one : `${count} ${many}`} ago`;
