/** When a schedule is due: every day, week or month at a time of day in a time zone. */

import { Cron } from "croner";
import { z } from "zod";

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

export const ruleSchema = z.object({
  every: z.enum(["day", "week", "month"]),
  /** Of a week. */
  weekday: z.enum(WEEKDAYS).optional(),
  /** Of a month; a shorter month has its last day instead. */
  day: z.int().min(1).max(31).optional(),
  /** `07:00`. */
  at: z.string(),
  time_zone: z.string(),
  /** The last day, `2027-03-01`. */
  until: z.string().optional(),
});
export type Rule = z.output<typeof ruleSchema>;

/**
 * The first occurrence after this time; undefined if the last day is before it. A time that the clocks leave out in spring
 * is the end of the gap, one that they repeat in autumn is its first.
 */
export function nextOccurrence(rule: Rule, after: number): number | undefined {
  const times = patternsOf(rule).flatMap((pattern) => {
    const next = new Cron(pattern, { timezone: rule.time_zone, paused: true }).nextRun(new Date(after));
    return next === null ? [] : [next.getTime()];
  });
  const next = Math.min(...times);
  return isBeforeEnd(rule, next) ? next : undefined;
}

/** Nothing starts after the last day, however late an occurrence is. */
export const isBeforeEnd = ({ until, time_zone }: Pick<Rule, "until" | "time_zone">, at: number): boolean =>
  Number.isFinite(at) && (until === undefined || dayIn(time_zone, at) <= until);

function patternsOf({ every, weekday = "monday", day = 1, at }: Rule): string[] {
  const [hour, minute] = at.split(":").map(Number);
  const time = `0 ${minute} ${hour}`;
  if (every === "day") return [`${time} * * *`];
  if (every === "week") return [`${time} * * ${WEEKDAYS.indexOf(weekday)}`];
  if (day === 31) return [`${time} L * *`];
  // February alone may be shorter.
  return day <= 28 ? [`${time} ${day} * *`] : [`${time} ${day} * *`, `${time} L 2 *`];
}

/** The occurrences from now until the last day, at most this many. */
export function countOccurrences(rule: Rule, after: number, max: number): number {
  let count = 0;
  for (let at = nextOccurrence(rule, after); at !== undefined && count < max; at = nextOccurrence(rule, at)) count += 1;
  return count;
}

/** `2027-03-01`. */
const dayIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(at);
