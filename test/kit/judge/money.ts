/**
 * Compares what Google accepted with what the user decided and with what the runs show, for kills, the fleet, the
 * simulation and the experiments. A run may have any number of paid requests, or one: only decisions are counted.
 */

import type { Cancel, Decision, Resume } from "./decisions.ts";

export interface PaidStart {
  id: string;
  /** The labels that the request carried. */
  attempt: string;
  run: string;
  /** What the user decided about, as in `Decision`. */
  subject: string;
  status: string;
  /** The report or plan that Google has; empty if there is none. */
  text: string;
  /** Whether a process received its id and lived to store it. */
  isKnown: boolean;
  /** Whether Google was asked to cancel it. */
  isCancelled: boolean;
}

export interface JudgedRun {
  task_id: string;
  status: string;
  parent_task_id: string | null;
  /** The run whose place it takes. */
  carries_on: string | null;
  query: string;
}

export interface JudgedAttempt {
  attempt_id: string;
  task_id: string;
  interaction_id: string | null;
}

/** An interaction as a run shows it. */
export interface Shown {
  id: string;
  task_id: string;
  /** The stored report or plan. */
  text: string;
  isCancelRequested: boolean;
  /** The user cancelled the run and wanted to keep nothing. */
  isDropped: boolean;
}

export interface Accounts {
  starts: PaidStart[];
  runs: JudgedRun[];
  attempts: JudgedAttempt[];
  shown: Shown[];
  /** Ids of runs that a client received. */
  returned: Iterable<string>;
  decisions: readonly Decision[];
  resumes: readonly Resume[];
  cancels: readonly Cancel[];
}

/** One sentence for each start that was doubled, not recorded or lost, each lost run, and each cancel without effect. */
export function judgeMoney(accounts: Accounts): string[] {
  return [
    ...judgeDecisions(accounts),
    ...judgeStarts(accounts),
    ...accounts.runs.flatMap((run) => judgeRun(accounts, run)),
    ...judgeReports(accounts),
    ...judgeCancels(accounts),
    ...judgeLost(accounts),
  ];
}

const hasNoReport = ({ status }: { status: string }): boolean => status === "failed" || status === "cancelled";

/**
 * Google accepts at most one start for each decision. Where one ended without a report, another window that asked for
 * the same may be served by a second one.
 */
function judgeDecisions({ starts, decisions }: Accounts): string[] {
  return [...Map.groupBy(starts, ({ subject }) => subject)].flatMap(([subject, those]) => {
    const own = decisions.filter((decision) => decision.subject === subject);
    const asks = own.reduce((sum, decision) => sum + decision.asks, 0);
    const isDoubled = those.filter((start) => !hasNoReport(start)).length > own.length || those.length > asks;
    return isDoubled ? [`Google accepted ${those.length} starts for ${own.length} decisions about ${subject}.`] : [];
  });
}

function judgeStarts({ starts, runs, attempts }: Accounts): string[] {
  const broken: string[] = [];
  const known = new Map(attempts.map((attempt) => [attempt.attempt_id, attempt]));
  for (const [attemptId, those] of Map.groupBy(starts, ({ attempt }) => attempt)) {
    const attempt = known.get(attemptId);
    if (those.length > 1) broken.push(`Attempt ${attemptId} was started ${those.length} times.`);
    if (attempt === undefined) broken.push(`Google accepted a start of attempt ${attemptId}, which is not recorded.`);
    else if (those.some(({ run }) => !isStartOf(runs, run, attempt.task_id)))
      broken.push(`Attempt ${attemptId} was started for another run.`);
  }
  return broken;
}

function judgeRun({ starts, runs, attempts }: Accounts, { task_id, status }: JudgedRun): string[] {
  const broken: string[] = [];
  const own = attempts.filter((attempt) => attempt.task_id === task_id);
  for (const { interaction_id: id } of own) {
    if (id !== null && !starts.some((start) => start.id === id && isStartOf(runs, start.run, task_id)))
      broken.push(`Run ${task_id} has an id that Google did not give it.`);
  }
  const isPaid = own.some(({ attempt_id }) => starts.some(({ attempt }) => attempt === attempt_id));
  const hasId = own.some(({ interaction_id }) => interaction_id !== null);
  if (isPaid && !hasId && status !== "start_unknown" && status !== "cancelled")
    broken.push(`Run ${task_id} was paid for, has no id and is ${status}.`);
  return broken;
}

/** A second answer to a start belongs, with its attempt, to a run of its own. */
const isStartOf = (runs: JudgedRun[], label: string, taskId: string): boolean =>
  label === taskId || label === runs.find(({ task_id }) => task_id === taskId)?.parent_task_id;

const OPEN = ["pending", "running_async"];

/** A run shows each accepted start: it is open, or has the text that Google has, or says that the start is unknown. */
function judgeReports({ starts, runs, shown, resumes }: Accounts): string[] {
  const runOf = new Map(runs.map((run) => [run.task_id, run]));
  const showing = Map.groupBy(shown, ({ id }) => id);
  const lines = linesOf(runs);
  const isResumed = (line: string): boolean => resumes.some(({ taskId }) => lines(taskId) === line);
  return starts.flatMap((start) => {
    // Nothing to collect.
    if (start.text === "" && start.status !== "working") return [];
    const owners = showing.get(start.id) ?? [];
    const isShown = owners.some(
      ({ task_id, text, isDropped }) =>
        isDropped || OPEN.includes(runOf.get(task_id)?.status ?? "") || text.trim() === start.text.trim(),
    );
    if (isShown) return [];
    const line = lines(start.run);
    const saysUnknown = runs.some(
      ({ task_id, status }) => lines(task_id) === line && (status === "start_unknown" || status === "cancelled"),
    );
    // Before a user sends an unknown start again, the answer says that the first one may be charged, too.
    if (!start.isKnown && (saysUnknown || isResumed(line))) return [];
    // A cancelled run is polled until Google confirms the cancel.
    if (start.status === "working" && owners.some(({ isCancelRequested }) => isCancelRequested)) return [];
    const [owner] = owners;
    return owner === undefined
      ? [`The start ${start.id} of run ${start.run} is paid for, and no run shows it.`]
      : [`Google has a text of ${start.id} that run ${owner.task_id} does not show.`];
  });
}

/**
 * A cancel reaches the interaction that was working, whichever id of the line the user named. Where a report of the
 * line is complete, or the research of the named run itself has ended, there may be nothing to cancel; a user who
 * resumes the run withdraws the cancel.
 */
function judgeCancels({ starts, runs, shown, resumes, cancels }: Accounts): string[] {
  const lines = linesOf(runs);
  const startOf = new Map(starts.map((start) => [start.id, start]));
  const showing = new Map(shown.map((one) => [one.id, one]));
  return cancels.flatMap(({ taskId, asked, seen }) => {
    const line = lines(taskId);
    const own = seen.filter(({ id }) => lines(startOf.get(id)?.run ?? "") === line);
    const isDone = own.some(
      ({ id, status, isPlan }) =>
        !isPlan && (status === "completed" || (status !== "working" && showing.get(id)?.task_id === taskId)),
    );
    const isWithdrawn = resumes.some(
      (resume) => lines(resume.taskId) === line && (resume.settled === undefined || resume.settled > asked),
    );
    const working = own.filter(({ id, status }) => status === "working" && showing.has(id));
    const isReached = working.some(
      ({ id }) => startOf.get(id)?.isCancelled === true || showing.get(id)?.isCancelRequested === true,
    );
    return working.length === 0 || isDone || isWithdrawn || isReached
      ? []
      : [`The cancel of ${taskId} did not reach ${working.map(({ id }) => id).join(", ")}.`];
  });
}

/** A line is a run and those that it carries on. A run that stands alone by now asks the same question as its parent. */
function linesOf(runs: JudgedRun[]): (taskId: string) => string {
  const known = new Map(runs.map((run) => [run.task_id, run]));
  const lineOf = (taskId: string): string => {
    const run = known.get(taskId);
    const before = known.get(run?.carries_on ?? run?.parent_task_id ?? "");
    return before !== undefined && before.query === run?.query ? lineOf(before.task_id) : taskId;
  };
  return lineOf;
}

function judgeLost({ runs, returned }: Accounts): string[] {
  const stored = new Set(runs.map(({ task_id }) => task_id));
  return [...returned]
    .filter((taskId) => !stored.has(taskId))
    .map((taskId) => `Run ${taskId} was returned and is lost.`);
}
