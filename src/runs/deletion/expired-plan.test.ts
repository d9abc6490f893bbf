import { CompiledQuery } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../../test/support/store-rows.ts";
import { runsEndedBefore } from "./deletion-store.ts";

// On SQLite alone: PostgreSQL reads a table this small without any index.
test("neither finding nor deleting an expired run reads the others (P7)", async () => {
  const db = await openDatabase();
  const planOf = async (statement: string, parameters: readonly unknown[] = []): Promise<string> =>
    (
      await db.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${statement}`, [...parameters]))
    ).rows
      .map(({ detail }) => detail)
      .join("\n");
  const asked: CompiledQuery[] = [];
  const overheard = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      asked.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await runsEndedBefore(overheard, { before: 5, now: 9, limit: 20 });
  const found = asked[0];
  expect(await planOf(found?.sql ?? "", found?.parameters)).toContain(
    "research_tasks_by_completed_at (completed_at<?)",
  );
  // As the foreign key looks for those that went on from a deleted run.
  expect(await planOf("select rowid from research_tasks where parent_task_id = 'x'")).toContain(
    "research_tasks_by_parent_task_id",
  );
});
