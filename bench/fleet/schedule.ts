/** Reads and sets due times of polls directly in pg-boss's tables, which only this file of the bench does. */

import type { Reader } from "../../test/fleet/postgres-reader.ts";
import { pollsInFlightSince } from "../../test/fleet/jobs.ts";
import { RUN_PREFIX } from "./google-process.ts";
import type { Due, Span } from "./polls.ts";

const JOBS = "gemini_search_jobs.job";

/** Spreads the due times evenly over this time. */
export async function setDue(reader: Reader, { from, to }: Span): Promise<void> {
  await reader.query(
    `update ${JOBS} set start_after = to_timestamp(($1::float8 + random() * $2::float8) / 1000)
      where name like 'poll-%' and state < 'active'`,
    [from, to - from],
  );
}

export const readDue = (reader: Reader, { from, to }: Span): Promise<Due[]> =>
  reader.query<Due>(
    `select substr(interaction_id, ${RUN_PREFIX.length + 1})::int as run,
        (extract(epoch from start_after) * 1000)::float8 as at
      from ${JOBS} as job join research_tasks as run on run.task_id = job.singleton_key
      where state < 'active' and start_after >= to_timestamp($1::float8 / 1000)
        and start_after < to_timestamp($2::float8 / 1000)`,
    [from, to],
  );

export async function runsInFlightSince({ query }: Reader, at: number): Promise<number[]> {
  const interactionIds = await pollsInFlightSince(query, at);
  return interactionIds.map((id) => Number(id.slice(RUN_PREFIX.length)));
}
