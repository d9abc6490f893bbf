/** The SQL of which runs are due, and in which order: who has thousands does not keep the others waiting. */

import { type ExpressionBuilder, sql } from "kysely";
import type { Database, Tables } from "../store/database.ts";
import { LOOK_LEASE_MS } from "./lease.ts";

type OfRun = ExpressionBuilder<Tables, "research_tasks">;

interface Due {
  now: number;
  limit: number;
}

/** Nobody looks at it, or nobody has for longer than a look can take. */
export const unleased = (now: number) => (lease: OfRun) =>
  lease.or([
    lease("lease_until", "is", null),
    lease("lease_until", "<=", now),
    // Written before the clock was set back.
    lease("lease_until", ">", now + 2 * LOOK_LEASE_MS),
  ]);

/** The first of every user, then the second of every user, and so on; of each those that are due longest. */
export async function dueInFairOrder(db: Database, due: Due): Promise<string[]> {
  const { limit } = due;
  const longest = await dueRuns(db, due)
    .limit(limit + 1)
    .execute();
  const ids = longest.map(({ task_id }) => task_id);
  // Nearly always: there is a turn for each, and nobody waits for anybody.
  if (ids.length <= limit) return ids;
  const owners = await ownersInTurn(db, due);
  if (owners.length <= 1) return ids.slice(0, limit);
  // More than an even share, for where others have less than theirs.
  const each = Math.min(limit - owners.length + 1, SHARES * Math.ceil(limit / owners.length));
  const [first, ...others] = owners.map((owner) =>
    db
      .selectFrom(dueRuns(db, due).where("owner", "=", owner).limit(each).as("theirs"))
      .select(["theirs.task_id", "theirs.owner"]),
  );
  if (first === undefined) return [];
  const rows = await others.reduce((query, other) => query.unionAll(other), first).execute();
  return roundRobin(
    owners.map((owner) => rows.filter((row) => row.owner === owner).map(({ task_id }) => task_id)),
    limit,
  );
}

const SHARES = 4;

const dueRuns = (db: Database, { now }: Pick<Due, "now">) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id", "owner"])
    .where("next_poll_at", "<=", now)
    .where("interaction_id", "is not", null)
    .where(unleased(now))
    .orderBy("next_poll_at");

/** At most as many as there are turns, whoever waits longest first. From name to name by the index: users are few, runs many. */
async function ownersInTurn(db: Database, { now, limit }: Due): Promise<string[]> {
  const waits = dueRuns(db, { now })
    .clearSelect()
    .select("next_poll_at")
    .where("owner", "=", sql<string>`owners.owner`)
    .limit(1);
  const { rows } = await sql<{ owner: string }>`
    with recursive owners(owner) as (
      select min(owner) from research_tasks where next_poll_at is not null
      union all
      select (select min(owner) from research_tasks where owner > owners.owner and next_poll_at is not null)
      from owners where owners.owner is not null
    )
    select owner from (select owner, (${waits}) as since from owners where owner is not null) as waiting
    where since is not null order by since limit ${limit}`.execute(db);
  return rows.map(({ owner }) => owner);
}

/** Every list gives its first, then every list its second, until there are enough. */
function roundRobin<T>(lists: T[][], limit: number): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const turns = Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1)));
  return turns.flat().slice(0, limit);
}
