import { CompiledQuery } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";
import { runsEndedBefore } from "./deletion-store.ts";

// SQLite only: PostgreSQL reads a table this small without an index.
test("neither finding nor deleting an expired run reads the others (P7)", async () => {
  const db = await openDatabase();
  const planOf = async (statement: string, parameters: readonly unknown[] = []): Promise<string> =>
    (
      await db.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${statement}`, [...parameters]))
    ).rows
      .map(({ detail }) => detail)
      .join("\n");
  const queries: CompiledQuery[] = [];
  const recording = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      queries.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await runsEndedBefore(recording, { before: 5, now: 9, limit: 20 });
  const found = queries[0];
  expect(await planOf(found?.sql ?? "", found?.parameters)).toContain(
    "research_tasks_by_completed_at_task_id (completed_at<?)",
  );
  // The query with which the foreign key finds the children of a deleted run.
  expect(await planOf("select rowid from research_tasks where parent_task_id = 'x'")).toContain(
    "research_tasks_by_parent_task_id",
  );
});
