import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";

// SQLite only: PostgreSQL reads a table this small without an index.
test("recently written runs are read through an index, however many runs there are", async () => {
  const plan = await sql<{ detail: string }>`
    explain query plan select task_id from research_tasks
    where owner = 'local' and updated_at >= 5 order by updated_at`.execute(await openDatabase());
  expect(plan.rows.map(({ detail }) => detail)).toEqual([
    expect.stringContaining("research_tasks_by_owner_updated_at (owner=? AND updated_at>?)"),
  ]);
});
