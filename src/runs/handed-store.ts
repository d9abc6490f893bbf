/** The SQL of whose a run is to follow, where an engine hands them out. */

import type { Database } from "../store/database.ts";

/** All that somebody has to follow: what will be looked at again, and what is being started. */
export const followedRuns = (db: Database) =>
  db
    .selectFrom("research_tasks")
    .select(["task_id", "owner"])
    .where("next_poll_at", "is not", null)
    .unionAll(
      db
        .selectFrom("research_tasks")
        .select(["task_id", "owner"])
        .where("status", "=", "pending")
        .where("next_poll_at", "is", null)
        .where("kind", "=", "agent"),
    );

export async function countToFollow(db: Database): Promise<number> {
  const row = await db
    .selectFrom(followedRuns(db).as("followed"))
    .select((select) => select.fn.countAll<number>().as("n"))
    .executeTakeFirstOrThrow();
  return row.n;
}

export async function handRuns(transaction: Database, taskIds: string[], processId: string): Promise<void> {
  if (taskIds.length === 0) return;
  await transaction
    .updateTable("research_tasks")
    .set({ handed_to: processId })
    .where("task_id", "in", taskIds)
    .execute();
}

/** Those that it looks at last come last. */
export async function runsHandedTo(db: Database, processId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("task_id")
    .where("handed_to", "=", processId)
    .orderBy("next_poll_at")
    .execute();
  return rows.map(({ task_id }) => task_id);
}

/** All that it has, or only these. */
export async function takeBackFrom(
  transaction: Database,
  processId: string,
  taskIds?: readonly string[],
): Promise<string[]> {
  const taken = transaction.updateTable("research_tasks").set({ handed_to: null }).where("handed_to", "=", processId);
  const rows = await (taskIds === undefined ? taken : taken.where("task_id", "in", taskIds))
    .returning("task_id")
    .execute();
  return rows.map(({ task_id }) => task_id);
}

/** What is with nobody of these has no holder any more, and nobody waits for the end of a look that was its. */
export async function takeBackFromOthers(transaction: Database, living: string[]): Promise<string[]> {
  const taken = transaction
    .updateTable("research_tasks")
    .set((run) => ({
      handed_to: null,
      // The lease of a start is about money, and ends by itself.
      lease_until: run
        .case()
        .when(run.and([run("lease_owner", "=", run.ref("handed_to")), run("status", "!=", "pending")]))
        .then(null)
        .else(run.ref("lease_until"))
        .end(),
    }))
    .where("handed_to", "is not", null);
  const rows = await (living.length === 0 ? taken : taken.where("handed_to", "not in", living))
    .returning("task_id")
    .execute();
  return rows.map(({ task_id }) => task_id);
}

/** A run that has ended is nobody's. */
export async function letGoOfEnded(transaction: Database): Promise<void> {
  await transaction
    .updateTable("research_tasks")
    .set({ handed_to: null })
    .where("handed_to", "is not", null)
    .where("next_poll_at", "is", null)
    .where("status", "!=", "pending")
    .execute();
}

/** Every process that has a run: to follow, to look at, to start or to search for. */
export async function runHolders(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom("research_tasks")
    .select("handed_to as holder")
    .where("handed_to", "is not", null)
    .union(
      db
        .selectFrom("research_tasks")
        .select("lease_owner as holder")
        .where((run) =>
          run.or([
            run("status", "in", ["pending", "running"]),
            run.and([run("next_poll_at", "is not", null), run("lease_until", "is not", null)]),
          ]),
        ),
    )
    .execute();
  return rows.flatMap(({ holder }) => holder ?? []);
}
