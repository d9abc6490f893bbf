/** Checks promises at the end of a simulated history. */

import { statesBefore, RUN_STATUSES } from "../../src/runs/run.ts";
import { type JudgedAttempt, type JudgedRun, judgeMoney } from "../kit/judge/money.ts";
import type { World } from "./process.ts";

interface StoredRun extends JudgedRun {
  interaction_id: string | null;
  error_message: string | null;
  /** 1 when Google itself reported the cancellation. */
  cancel_confirmed: number | null;
}

export interface UserActions {
  /** Ids of runs that a user received. */
  returned: Set<string>;
  /** Runs that a user knowingly started again, or gave an id. */
  resumed: Set<string>;
}

export function judge(world: World, { returned, resumed }: UserActions): string[] {
  const { google, database } = world;
  const runs = database.all<StoredRun>("select * from research_tasks");
  const attempts = database.all<JudgedAttempt>("select * from research_attempts");
  return [
    ...judgeMoney({ starts: google.ledger, runs, attempts, returned, resumed }),
    ...runs.flatMap((run) => judgeEnd(world, run)),
    ...judgeIds(world, { runs, attempts }),
    ...judgeTransitions(world),
    ...judgeNotices(world),
    ...judgeLeftovers(world),
  ];
}

/** Enough time for a process that is not suspended to store an id it received. */
const STORED_WITHIN_MS = 3_000;

interface Identified {
  interaction_id: string | null;
}

/**
 * An id that reached a process is stored with its attempt and its run, unless the process died before it could store
 * it.
 */
function judgeIds(
  { google, ranSince }: World,
  { runs, attempts }: Record<"runs" | "attempts", Identified[]>,
): string[] {
  const followed = new Set(runs.map(({ interaction_id }) => interaction_id));
  const known = new Set(attempts.flatMap(({ interaction_id: id }) => (followed.has(id) ? [id] : [])));
  return google.ledger
    .filter(({ id, delivered }) => {
      const ranMs = delivered === undefined ? 0 : (ranSince.get(delivered.processId)?.(delivered.at) ?? 0);
      return ranMs > STORED_WITHIN_MS && !known.has(id);
    })
    .map(({ id, run }) => `the id ${id} of run ${run} was delivered and is lost`);
}

/** Eight hours can pass within minutes only if a clock jumps. */
const MIN_LONG_JUMP_MS = 7 * 3_600_000;

function judgeEnd({ google, database, skewSeen }: World, run: StoredRun): string[] {
  const { task_id, status, interaction_id: id, error_message, cancel_confirmed } = run;
  if (id === null) {
    if (status === "completed") return [`run ${task_id} is completed without an id`];
    const hasEnded = status === "failed" || status === "cancelled" || status === "start_unknown";
    return hasEnded ? [] : [`run ${task_id} is ${status}`];
  }
  const upstream = google.statusOf(id);
  const jumped = skewSeen.max - skewSeen.min >= MIN_LONG_JUMP_MS;
  const failedByClock = status === "failed" && error_message?.includes("timed out") === true;
  // Without Google's confirmation a cancelled run is polled until its deadline, which a jump brings forward too.
  const unconfirmed = status === "cancelled" && cancel_confirmed !== 1;
  const timedOut = jumped && (failedByClock || unconfirmed);
  // For a run that the user cancelled, a failure at Google or a missed deadline changes nothing.
  if (timedOut || (status === "cancelled" && upstream !== "completed")) return [];
  if (upstream !== status) return [`run ${task_id} is ${status}, but ${upstream} at Google`];
  if (status !== "completed") return [];
  const results = database.all<{ report_markdown: string; partial: number }>(
    "select report_markdown, partial from research_results where task_id = ?",
    task_id,
  );
  const whole = results[0]?.report_markdown === google.reportOf(id) && results[0].partial === 0;
  return whole ? [] : [`run ${task_id} is completed without its report`];
}

function judgeTransitions({ database }: World): string[] {
  return database
    .all<{ task_id: string; before: string; after: string }>("select * from transitions")
    .filter(({ before, after }) => {
      const to = RUN_STATUSES.find((status) => status === after);
      return to === undefined || !statesBefore(to).some((from) => from === before);
    })
    .map(({ task_id, before, after }) => `run ${task_id} went from ${before} to ${after}`);
}

function judgeNotices({ shown, database }: World): string[] {
  const counts = Map.groupBy(shown, (line) => line);
  const twice = [...counts].filter(([, lines]) => lines.length > 1).map(([line]) => `"${line}" was shown twice`);
  const open = database.all("select * from notification_outbox where claimed_at is null");
  return [...twice, ...(open.length === 0 ? [] : [`${open.length} notifications were never claimed`])];
}

function judgeLeftovers({ database }: World): string[] {
  const left = database.all<{ task_id: string }>(
    "select task_id from research_tasks where lease_until is not null or next_poll_at is not null",
  );
  return left.map(({ task_id }) => `run ${task_id} is still followed or leased`);
}
