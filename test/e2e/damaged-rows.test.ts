/** Damaged rows beside healthy runs, through the built server: no row stops another run. */

import { expect, test } from "vitest";
import { openPageServer } from "../kit/browser/page-api.ts";
import { SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

/** Damaged values that only SQLite stores: PostgreSQL checks the types of columns. */
const OF_ANOTHER_TYPE = ["created_at = 'yesterday'", "deadline_at = 'never'", "lease_epoch = 9007199254740993"];
/** Damaged values in the row of a run in progress; the numbers are beyond 2^53 or the latest time of a `Date`. */
const DAMAGES = [
  "options_json = '{broken'",
  "options_json = '[1]'",
  "estimate_json = 'nonsense'",
  "plan_json = '{broken'",
  "created_at = 9007199254740993",
  "deadline_at = 9007199254740993",
  "completed_at = 8640000000000001",
  ...(process.env["TEST_DATABASE"] === "postgres" ? [] : OF_ANOTHER_TYPE),
];
const RESULT_DAMAGES = ["sources_json = '[{'", "citations_json = ''", "metadata_json = 'null'"];
/** A little more than eight minutes of research. */
const WHOLE_MS = 10 * 60_000;

const LOGGED = "its stored data is damaged";

async function expectClearError(server: RunningServer, tool: string, task_id: string): Promise<void> {
  const { structured } = await server.call(tool, { task_id });
  expect(structured).toMatchObject({
    success: false,
    error: { code: "SQLITE_ERROR", message: expect.stringContaining("is damaged and cannot be read") },
  });
}

const listedBy = async (server: RunningServer): Promise<string[]> => {
  const { structured } = await server.call("list_research", { limit: 50 });
  return structured["runs"].map(({ task_id }: { task_id: string }) => task_id).toSorted();
};

test("damaged rows stop neither polls nor lists nor a restart, and are logged once each (P5)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  let server = await scene.server();
  const damaged: string[] = [];
  for (const damage of DAMAGES) damaged.push(await startRun(server, `Question before ${damage}`));
  const healthy = [await startRun(server, "First healthy question"), await startRun(server, "Second healthy question")];
  DAMAGES.forEach((damage, n) => scene.sql(`update research_tasks set ${damage} where task_id = ?`, damaged[n] ?? ""));
  scene.sql("update research_tasks set deadline_at = null where task_id = ?", healthy[1] ?? "");
  const sorted = healthy.toSorted();

  expect(await listedBy(server)).toEqual(sorted);
  for (const task_id of damaged) await expectClearError(server, "check_research_status", task_id);
  for (const task_id of damaged) {
    const pattern = `Run ${task_id}: ${LOGGED}`;
    await waitFor(async () => expect(server.stderr().split(pattern)).toHaveLength(2), { interval: 100 });
  }
  const page = await scene.serve();
  const { status, body } = await page.get("/api/runs");
  expect(status).toBe(200);
  expect(body.runs.map(({ task_id }: { task_id: string }) => task_id).toSorted()).toEqual(sorted);
  expect((await page.get("/api/figures")).status).toBe(200);
  expect(server.stderr().split(LOGGED)).toHaveLength(DAMAGES.length + 1);

  await server.client.close();
  server = await scene.server();
  expect(await listedBy(server)).toEqual(sorted);
  scene.gemini.skip(WHOLE_MS);
  for (const task_id of healthy) await untilStatus(server, task_id, "completed");
  const later = await startRun(server, "A question after the damage");
  expect(await listedBy(server)).toEqual([...healthy, later].toSorted());
}, 60_000);

test("a damaged result is an error for its own run only, and every page of a list stays complete (P5)", async (context) => {
  const scene = await openPageServer(context);
  const server = await scene.server();
  const damaged: string[] = [];
  for (const damage of RESULT_DAMAGES) damaged.push(await startRun(server, `Question before ${damage}`));
  const healthy = await startRun(server, "A healthy question");
  for (const task_id of [...damaged, healthy]) await untilStatus(server, task_id, "completed");
  RESULT_DAMAGES.forEach((damage, n) =>
    scene.sql(`update research_results set ${damage} where task_id = ?`, damaged[n] ?? ""),
  );
  for (const task_id of damaged) await expectClearError(server, "get_research_results", task_id);
  const { structured } = await server.call("get_research_results", { task_id: healthy });
  expect(structured["report"].length).toBeGreaterThan(1_000);
  expect(await listedBy(server)).toEqual([...damaged, healthy].toSorted());

  // The two newest but one are damaged: pages of one still lead to the oldest.
  for (const task_id of damaged.slice(1)) {
    scene.sql("update research_tasks set options_json = '{' where task_id = ?", task_id);
  }
  const first = (await server.call("list_research", { limit: 1 })).structured;
  expect(first).toMatchObject({ runs: [{ task_id: healthy }], next_cursor: expect.any(String) });
  const second = (await server.call("list_research", { limit: 1, cursor: first["next_cursor"] })).structured;
  expect(second).toMatchObject({ runs: [{ task_id: damaged[0] }] });
  expect(second).not.toHaveProperty("next_cursor");
}, 60_000);

test("a run whose draft is damaged still ends with its report (P5)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const server = await scene.server();
  const task_id = await startRun(server);
  scene.sql(
    "insert into research_results (task_id, report_markdown, sources_json, citations_json, metadata_json, partial, saved_at) values (?, 'draft', '[', '{', '', 1, 0)",
    task_id,
  );
  scene.sql(
    "insert into research_events (task_id, seq, at, kind, data_json, event_key) values (?, 1, 0, 'thought', '{', 'x')",
    task_id,
  );
  const watching = server.call("check_research_status", { task_id });
  scene.gemini.skip(WHOLE_MS);
  await untilStatus(server, task_id, "completed");
  await watching;
  const { structured } = await server.call("get_research_results", { task_id });
  expect(structured["report"].length).toBeGreaterThan(1_000);
});
