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
