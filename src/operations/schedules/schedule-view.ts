/** What surfaces see of a schedule. */

import { z } from "zod";
import { isoTime } from "../../platform/clock.ts";
import { STATUS_LABELS } from "../../runs/run.ts";
import type { Rule } from "../../runs/schedules/calendar.ts";
import type { Schedule, ScheduledOperation, ScheduleProblem } from "../../runs/schedules/schedule.ts";
import type { Database } from "../../store/database.ts";
import { dollars } from "../../costs/dollars.ts";

export const PERIODS = ["day", "week", "month"] as const;
export const DEPTHS = ["search", "deep_search", "research"] as const;

export const scheduleFields = {
  schedule_id: z.string(),
  query: z.string(),
  depth: z.string(),
  when: z.string(),
  every: z.string(),
  on: z.string().optional(),
  at: z.string(),
  time_zone: z.string(),
  until: z.string().optional(),
  budget_usd: z.number(),
  used_usd: z.number(),
  state: z.string().describe("active, paused or ended."),
  next_at: z.string().optional(),
  problem: z.string().optional().describe("Why the last run did not start."),
  last: z.looseObject({ task_id: z.string(), status: z.string(), created_at: z.string() }).optional(),
};

const fields = z.object(scheduleFields);
export type ScheduleView = z.output<typeof fields>;

const DEPTH_OF: Record<ScheduledOperation, (typeof DEPTHS)[number]> = {
  search: "search",
  deep_search: "deep_search",
  start_deep_research: "research",
};

export const PROBLEMS: Record<ScheduleProblem, string> = {
  budget: "The last run was not started: the budget of the schedule has no room for it.",
  limit: "The last run was not started: a budget of this server has no room for it.",
  failed: "The last run was not started: its model has no price, or an unexpected error occurred; see the log.",
  unfinished: "It waits: its last run has not ended, or it is unknown whether it was started.",
  unavailable: "It waits: no process with a key, a search backend and a writable database is running.",
};

export async function viewOf(db: Database, schedule: Schedule): Promise<ScheduleView> {
  const { runsOfSchedule, usedUsd } = await import("../../runs/schedules/schedule-store.ts");
  const { scheduleId, rule, budgetUsd, nextAt, problem, paused } = schedule;
  const { every, at, time_zone, until } = rule;
  const [last] = await runsOfSchedule(db, scheduleId, 1);
  const isActive = !paused && nextAt !== undefined;
  return {
    schedule_id: scheduleId,
    query: schedule.input.query,
    depth: DEPTH_OF[schedule.operation],
    when: whenText(rule),
    every,
    on: dayOf(rule),
    at,
    time_zone,
    until,
    budget_usd: budgetUsd,
    used_usd: await usedUsd(db, scheduleId),
    state: paused ? "paused" : isActive ? "active" : "ended",
    next_at: isActive ? isoTime(nextAt) : undefined,
    problem: problem && PROBLEMS[problem],
    last: last && { task_id: last.taskId, status: last.status, created_at: isoTime(last.createdAt) },
  };
}

function dayOf({ every, weekday, day }: Rule): string | undefined {
  if (every === "week") return weekday;
  return every === "month" ? (day === 31 ? "last" : String(day)) : undefined;
}

/** `every Monday at 07:00 (Europe/Berlin) until 2027-03-01`. */
export function whenText(rule: Rule): string {
  const { every, weekday = "", at, time_zone: zone, until } = rule;
  const day = dayOf(rule);
  const period =
    every === "week"
      ? `every ${weekday.slice(0, 1).toUpperCase()}${weekday.slice(1)}`
      : every === "day"
        ? "every day"
        : `every month on ${day === "last" ? "its last day" : `day ${day}`}`;
  return `${period} at ${at} (${zone})${until === undefined ? "" : ` until ${until}`}`;
}

/** A line for models; people have a table. */
export function scheduleLine(schedule: ScheduleView): string {
  const {
    schedule_id: id,
    depth,
    when,
    query,
    used_usd: used,
    budget_usd: budget,
    state,
    next_at,
    problem,
    last,
  } = schedule;
  return [
    `- ${id}: ${depth} ${when}, ${state}: ${query}`,
    `${dollars(used)} of ${dollars(budget)} used or reserved`,
    ...(next_at === undefined ? [] : [`next ${next_at}`]),
    ...(last === undefined ? [] : [`last ${last.task_id} (${statusLabel(last.status)})`]),
    ...(problem === undefined ? [] : [problem]),
  ].join("; ");
}

const statusLabel = (status: string): string =>
  Object.entries(STATUS_LABELS)
    .find(([name]) => name === status)?.[1]
    .toLowerCase() ?? status;
