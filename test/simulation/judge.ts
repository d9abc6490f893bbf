/** Checks promises at the end of a simulated history. */

import { statesBefore, STORED_STATUSES } from "../../src/runs/run.ts";
import type { Decision } from "../kit/judge/decisions.ts";
import { type JudgedAttempt, judgeMoney } from "../kit/judge/money.ts";
import { shownOf, type ShowingRun } from "../kit/judge/shown.ts";
import type { World } from "./process.ts";

interface StoredRun extends ShowingRun {
  error_message: string | null;
  /** 1 when Google itself reported the cancellation. */
  cancel_confirmed: number | null;
}

export function judge(world: World): string[] {
  const { database, returned } = world;
  const runs = database.all<StoredRun>("select * from research_tasks");
  const attempts = database.all<JudgedAttempt>("select * from research_attempts");
  const shown = shownIn(world, runs);
  const dropped = new Set(shown.filter(({ isDropped }) => isDropped).map(({ task_id }) => task_id));
  return [
    ...judgeMoney({
      ...judgedUser(world),
      starts: startsOf(world, attempts),
      runs,
      attempts,
      returned,
      shown,
    }),
    ...runs.filter(({ task_id }) => !dropped.has(task_id)).flatMap((run) => judgeEnd(world, run)),
    ...judgeIds(world, { runs, attempts }),
    ...judgeTransitions(world),
    ...judgeNotices(world),
    ...judgeLeftovers(world),
  ];
}

/** A clock that jumps can end runs early, and lets two starts of one question appear to be far apart. */
function judgedUser(world: World) {
  const { decisions, resumes, cancels } = world.user;
  const { min, max } = world.skewSeen;
  const each = decisions.flatMap(({ subject, asks }) =>
    Array.from({ length: asks }, (): Decision => ({ subject, asks: 1 })),
  );
  const onPlans = (decision: Decision): boolean => decision.subject.startsWith("plan v1_");
  return {
    decisions: min === max ? decisions : [...decisions.filter(onPlans), ...each.filter((one) => !onPlans(one))],
    resumes,
    cancels: hasJumpedFar(world) ? [] : cancels,
  };
}

function startsOf({ google, ranSince }: World, attempts: JudgedAttempt[]) {
  const stored = new Set(attempts.map(({ interaction_id }) => interaction_id));
  return google.ledger.map((start) => {
    const status = google.statusOf(start.id) ?? "missing";
    return {
      ...start,
      status,
      text: status === "completed" ? google.textOf(start) : "",
      isKnown: stored.has(start.id) || couldStore({ ranSince }, start),
      isCancelled: start.cancelledAt !== undefined,
    };
  });
}

function shownIn(world: World, runs: StoredRun[]) {
  const results = world.database.all<{ task_id: string; report_markdown: string }>("select * from research_results");
  const reports = new Map(results.map(({ task_id, report_markdown }) => [task_id, report_markdown]));
  const timedOut = new Set(runs.filter((run) => hasTimedOut(world, run)).map(({ task_id }) => task_id));
  const shown = shownOf({ runs, reports });
  return shown.map((one) => (timedOut.has(one.task_id) ? { ...one, isDropped: true } : one));
}

/** Enough time for a process that is not suspended to store an id it received. */
const STORED_WITHIN_MS = 3_000;

/** Whether the process that received the id ran long enough afterwards to store it. */
function couldStore({ ranSince }: Pick<World, "ranSince">, { delivered }: World["google"]["ledger"][number]): boolean {
  const ranMs = delivered === undefined ? 0 : (ranSince.get(delivered.processId)?.(delivered.at) ?? 0);
  return ranMs > STORED_WITHIN_MS;
}

interface Identified {
  interaction_id: string | null;
}

/**
 * An id that reached a process is stored with its attempt and its run, unless the process died before it could store
 * it.
 */
function judgeIds(
  { google, ranSince }: World,
  { runs, attempts }: { runs: Identified[]; attempts: Identified[] },
): string[] {
  const followed = new Set(runs.map(({ interaction_id }) => interaction_id));
  const known = new Set(attempts.flatMap(({ interaction_id: id }) => (followed.has(id) ? [id] : [])));
  return google.ledger
    .filter((start) => couldStore({ ranSince }, start) && !known.has(start.id))
    .map(({ id, run }) => `the id ${id} of run ${run} was delivered and is lost`);
}

/** Eight hours can pass within minutes only if a clock jumps. */
const MIN_LONG_JUMP_MS = 7 * 3_600_000;

const hasJumpedFar = ({ skewSeen }: World): boolean => skewSeen.max - skewSeen.min >= MIN_LONG_JUMP_MS;

/** Ended by a jump of a clock, and not by what Google said. */
function hasTimedOut(world: World, { status, error_message, cancel_confirmed }: StoredRun): boolean {
  const byClock = status === "failed" && /timed out|has expired/.test(error_message ?? "");
  // Without Google's confirmation a cancelled run is polled until its deadline, which a jump brings forward too.
  const unconfirmed = status === "cancelled" && cancel_confirmed !== 1;
  return hasJumpedFar(world) && (byClock || unconfirmed);
}

function judgeEnd(world: World, run: StoredRun): string[] {
  const { google, database } = world;
  const { task_id, status, interaction_id: id } = run;
  if (id === null) {
    if (status === "completed") return [`run ${task_id} is completed without an id`];
    const hasEnded = status === "failed" || status === "cancelled" || status === "start_unknown";
    return hasEnded ? [] : [`run ${task_id} is ${status}`];
  }
  const upstream = google.statusOf(id);
  const start = google.ledger.find((accepted) => accepted.id === id);
  // For a run that the user cancelled, a failure at Google or a missed deadline changes nothing.
  if (hasTimedOut(world, run) || (status === "cancelled" && upstream !== "completed")) return [];
  // A plan waits for the user, who may have cancelled it instead.
  if (start?.isPlan === true && upstream === "completed" && status === "cancelled") return [];
  if (upstream !== status) return [`run ${task_id} is ${status}, but ${upstream} at Google`];
  if (status !== "completed") return [];
  const results = database.all<{ report_markdown: string; partial: number }>(
    "select report_markdown, partial from research_results where task_id = ?",
    task_id,
  );
  const whole = start !== undefined && results[0]?.report_markdown === google.textOf(start) && results[0].partial === 0;
  return whole ? [] : [`run ${task_id} is completed without its report`];
}

function judgeTransitions({ database }: World): string[] {
  // A plan that was not approved expires or is cancelled.
  const plans = new Set(
    database.all<{ task_id: string }>("select * from research_tasks where part = 'plan'").map(({ task_id }) => task_id),
  );
  return database
    .all<{ task_id: string; before: string; after: string }>("select * from transitions")
    .filter(({ task_id, before, after }) => {
      const to = STORED_STATUSES.find((status) => status === after);
      const isPlan = before === "completed" && plans.has(task_id);
      return !isPlan && (to === undefined || !statesBefore(to).some((from) => from === before));
    })
    .map(({ task_id, before, after }) => `run ${task_id} went from ${before} to ${after}`);
}

function judgeNotices({ shown, database }: World): string[] {
  const counts = Map.groupBy(shown, (line) => line);
  const twice = [...counts]
    .filter(([, lines]) => lines.length > 1)
    .map(([line, lines]) => `"${line}" was shown ${lines.length} times`);
  const open = database.all("select * from notification_outbox where claimed_at is null");
  return [...twice, ...(open.length === 0 ? [] : [`${open.length} notifications were never claimed`])];
}

function judgeLeftovers({ database }: World): string[] {
  // A run that has ended is polled for its usage for hours, and no process waits for that: what was killed during such
  // a poll leaves its lease.
  const left = database.all<{ task_id: string }>(
    `select task_id from research_tasks where (lease_until is not null or next_poll_at is not null)
      and (status not in ('completed', 'failed', 'cancelled') or usage_final = 1)`,
  );
  return left.map(({ task_id }) => `run ${task_id} is still followed or leased`);
}
