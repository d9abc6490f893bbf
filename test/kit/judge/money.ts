/** Compares Google's accepted starts with the database, for kills, the fleet and the simulation. */

interface PaidStart {
  id: string;
  /** The labels that the request carried. */
  attempt: string;
  run: string;
}

export interface JudgedRun {
  task_id: string;
  status: string;
  parent_task_id: string | null;
}

export interface JudgedAttempt {
  attempt_id: string;
  task_id: string;
  interaction_id: string | null;
}

export interface Accounts {
  starts: PaidStart[];
  runs: JudgedRun[];
  attempts: JudgedAttempt[];
  /** Ids of runs that a client received. */
  returned: Iterable<string>;
  /** Runs that a user knowingly started again, or gave an id. */
  resumed: ReadonlySet<string>;
}

/** One sentence for each start that was doubled, not recorded or lost, and for each lost run. */
export function judgeMoney(accounts: Accounts): string[] {
  return [...judgeStarts(accounts), ...accounts.runs.flatMap((run) => judgeRun(accounts, run)), ...judgeLost(accounts)];
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

function judgeRun({ starts, runs, attempts, resumed }: Accounts, { task_id, status }: JudgedRun): string[] {
  const broken: string[] = [];
  const own = attempts.filter((attempt) => attempt.task_id === task_id);
  if (own.length !== 1 && !resumed.has(task_id)) broken.push(`Run ${task_id} has ${own.length} attempts.`);
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

/** The second interaction of a run that was started twice belongs, with its attempt, to a run of its own. */
const isStartOf = (runs: JudgedRun[], label: string, taskId: string): boolean =>
  label === taskId || label === runs.find(({ task_id }) => task_id === taskId)?.parent_task_id;

function judgeLost({ runs, returned }: Accounts): string[] {
  const stored = new Set(runs.map(({ task_id }) => task_id));
  return [...returned]
    .filter((taskId) => !stored.has(taskId))
    .map((taskId) => `Run ${taskId} was returned and is lost.`);
}
