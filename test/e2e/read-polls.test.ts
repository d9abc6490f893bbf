/** Commands that read a run which no process polls: they ask Google once, and show nothing that was not seen. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const AT_ONCE = { duration_ms: 0, report: "# Heat pumps\n\nThey work down to −28 °C.\n" };
/** The command that starts the run ends without a poll, as after Ctrl-C. */
const UNPOLLED = { RESEARCH_MAX_RPS: "0" };

async function startUnpolled(scene: ResearchScene, query = QUERY): Promise<string> {
  const { stdout } = await scene.command(["research", query, "--json"], { env: UNPOLLED });
  const { task_id, status } = JSON.parse(stdout);
  expect(status).toBe("running_async");
  makeDue(scene, task_id, 0);
  return task_id;
}

/** The poll of the run was due this long ago. */
const makeDue = (scene: ResearchScene, taskId: string, agoMs: number): unknown =>
  scene.sql("update research_tasks set next_poll_at = ? where task_id = ?", Date.now() - agoMs, taskId);

const polls = (scene: ResearchScene): number =>
  scene.gemini.ledger
    .acceptedStarts()
    .map(({ id }) => scene.gemini.ledger.trafficOf(id).polls.length)
    .reduce((sum, count) => sum + count, 0);

test("list, show, save and check-research-status collect a report that nobody polled for (J4)", async (context) => {
  const scene = await openResearch(context, AT_ONCE);
  const json = async (...args: string[]) => JSON.parse((await scene.command([...args, "--json"])).stdout);
  const listed = await startUnpolled(scene, "What is a heat pump?");
  expect((await json("list")).runs).toMatchObject([{ task_id: listed, status: "completed", progress: 100 }]);

  const shown = await scene.command(["show", await startUnpolled(scene, "How loud is a heat pump?")]);
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("They work down to −28 °C.")]);

  const saved = await startUnpolled(scene, "How long does a heat pump last?");
  const { file_path } = await json("save", saved, "--output-dir", join(scene.configDir, "reports"));
  expect(readFileSync(file_path, "utf8")).toContain("They work down to −28 °C.");

  const checked = await startUnpolled(scene, "What does a heat pump cost?");
  expect(await json("check-research-status", checked)).toMatchObject({ status: "completed", progress: 100 });
  expect(scene.accepted()).toBe(4);
});

test("stop --delete and delete stop a run that nobody polled, and keep a report that they find finished (L2)", async (context) => {
  const scene = await openResearch(context, AT_ONCE);
  for (const [command, query] of [
    [["stop", "--delete"], "What is a heat pump?"],
    [["delete"], "How loud is a heat pump?"],
  ] as const) {
    const taskId = await startUnpolled(scene, query);
    const unasked = await scene.command([...command, taskId, "--json"]);
    expect(JSON.parse(unasked.stdout)).toMatchObject({ success: false, error: { code: "CONFIRMATION_NEEDED" } });
    const { stdout } = await scene.command([...command, taskId, "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { code: "RESEARCH_ALREADY_COMPLETED" } });
    expect((await scene.command(["show", taskId])).stdout).toContain("They work down to −28 °C.");
  }
});

test("a run that a server polls is read from the store alone (J4)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server({ env: { RESEARCH_POLL_INTERVAL_MS: "600000" } });
  const taskId = await startRun(server);
  await waitFor(() => expect(polls(scene)).toBe(1));
  const { stdout } = await scene.command(["list", "--json"]);
  expect(JSON.parse(stdout).runs).toMatchObject([{ task_id: taskId, status: "running_async" }]);
  expect(polls(scene)).toBe(1);
});

test("Google that does not answer delays a command by a few seconds, and what is stored is shown (J4)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, get: [{ fault: "hang" }] });
  const taskId = await startUnpolled(scene);
  const { code, stdout } = await scene.command(["list", "--json"]);
  expect([code, JSON.parse(stdout).runs]).toMatchObject([0, [{ task_id: taskId, status: "running_async" }]]);
});

test("of a run that nobody polls no percentage, time left or cost is invented, however old it is (J2)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const taskId = await startUnpolled(scene);
  const past = 5 * 60_000;
  scene.sql("update research_tasks set created_at = created_at - ?, started_at = started_at - ?", past, past);
  makeDue(scene, taskId, 4 * 60_000);
  const read = (...args: string[]) => scene.command(args, { env: UNPOLLED });
  const status = JSON.parse((await read("check-research-status", taskId, "--json")).stdout);
  expect(status).toMatchObject({ status: "running_async", progress: 0, unpolled_since: expect.any(String) });
  expect(Object.keys(status)).not.toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(?:tokens_used|cost_so_far|estimated_cost|estimated_completion_minutes)$/),
    ]),
  );
  const text = (await read("check-research-status", taskId)).stdout;
  expect(text).toMatch(/^Running · 5 min \d+ s · run /);
  expect(text).toMatch(/^Last checked more than 4 min \d+ s ago; it may have ended\.$/m);
  expect((await read("list")).stdout).not.toContain("%");
  expect((await read("show", taskId)).stderr).toMatch(/^RESEARCH_NOT_COMPLETED: Still running\.$/m);
});
