import { CompiledQuery } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";
import { listRuns, type RunFilter } from "../run-store.ts";
import { countListed } from "./count-store.ts";
import { listTags } from "./organize-store.ts";

const FILTER: RunFilter = { owner: "local", status: undefined, kind: undefined, limit: 100, before: undefined };

// SQLite only: PostgreSQL reads a table this small without an index.
test("no filter of the list makes it read runs that it does not show", async () => {
  const db = await openDatabase();
  const queries: CompiledQuery[] = [];
  const recording = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      queries.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const planOf = async (filter: Partial<RunFilter>): Promise<string> => {
    await listRuns(recording, { ...FILTER, ...filter });
    // The lines after the first one find the run that has taken the place of a listed one.
    return (await explain(queries.pop())).split("\n")[0] ?? "";
  };
  const explain = async (query: CompiledQuery | undefined): Promise<string> => {
    // A query that is compiled once has slots for its values, and a plan does not depend on those.
    const values = (query?.parameters ?? []).map((value) => (typeof value === "object" ? null : value));
    const plan = CompiledQuery.raw(`explain query plan ${query?.sql}`, values);
    return (await db.executeQuery<{ detail: string }>(plan)).rows.map(({ detail }) => detail).join("\n");
  };
  const before = { createdAt: 5, taskId: "x" };
  for (const archived of [false, true]) {
    expect(await planOf({ archived })).toMatch(/\(owner=\? AND archived=\?\)$/);
    expect(await planOf({ archived, before })).toMatch(
      /\(owner=\? AND archived=\? AND \(created_at,task_id\)<\(\?,\?\)\)$/,
    );
    expect(await planOf({ archived, status: "completed" })).toMatch(/\(owner=\? AND archived=\? AND status=\?\)$/);
    expect(await planOf({ archived, kind: "agent" })).toMatch(/\(owner=\? AND archived=\? AND kind=\?\)$/);
    expect(await planOf({ archived, starred: true })).toMatch(/\(owner=\? AND starred=\? AND archived=\?\)$/);
  }
  for (const filter of [{}, { archived: false }, { archived: false, status: "completed" }, { before }] as const)
    expect(await planOf({ tag: "heating", ...filter })).toMatch(/\(task_id=\?\)$/);
  await countListed(recording, "local");
  await listTags(recording, "local");
  for (const query of queries) {
    const plan = await explain(query);
    expect(plan).toContain("INDEX");
    expect(plan).not.toContain("SCAN research_tasks\n");
    // The runs with a tag are few, and sorted.
    expect(query.sql.includes("replace(tags") || !plan.includes("TEMP B-TREE"), query.sql).toBe(true);
  }
});
