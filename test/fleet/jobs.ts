/** Reads pg-boss's jobs directly, for tests and benches: polls in flight, and mismatches between runs and jobs. */

type Query = <Row extends object>(statement: string, values?: unknown[]) => Promise<Row[]>;

/** Jobs that are scheduled, waiting for a retry, or active. */
const POLLS = `select singleton_key as task_id, state, started_on, start_after from gemini_search_jobs.job
  where name like 'poll-%' and state <= 'active'`;

/** Interaction ids of runs whose polls began before this time and are still active. */
export async function pollsInFlightSince(query: Query, at: number): Promise<string[]> {
  const rows = await query<{ interaction_id: string }>(
    `select interaction_id from (${POLLS}) as job join research_tasks as run using (task_id)
      where job.state = 'active' and job.started_on <= to_timestamp($1::float8 / 1000)`,
    [at],
  );
  return rows.map(({ interaction_id }) => interaction_id);
}

/**
 * Each query returns a row for each mismatch. Runs and jobs are scheduled in one transaction. The end of a run is stored
 * before its batch is settled: until then, or until its job is fetched again, its poll has no run.
 */
export const MISMATCHES = {
  "runs without a poll": `select task_id from research_tasks where next_poll_at is not null
    and task_id not in (select task_id from (${POLLS}) as job)`,
  "polls without a run": `select task_id from (${POLLS}) as job
    where task_id not in (select task_id from research_tasks where next_poll_at is not null)`,
  "runs with more than one poll": `select task_id from (${POLLS}) as job group by task_id having count(*) > 1`,
} as const;

/** Those that must not exist at any time. One statement, because polls continue meanwhile. */
export async function countMismatches(query: Query): Promise<number> {
  const all = Object.entries(MISMATCHES).map(([name, mismatch]) =>
    name === "polls without a run" ? `(${mismatch} and state = 'created')` : `(${mismatch})`,
  );
  const [row] = await query<{ n: number }>(`select count(*) as n from (${all.join(" union all ")}) as mismatch`);
  return row?.n ?? Number.NaN;
}
