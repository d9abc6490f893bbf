/** `ask_followup` through MCP: what is continued at Google, what is sent where Google has forgotten it, and what is refused. */

import { expect, test } from "vitest";
import { missingFromText } from "../kit/server/answer-leaves.ts";
import { openResearch, QUERY, type ResearchScene, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { RunningServer, ToolResult } from "../kit/server/server.ts";
import { openTasks, settled } from "../kit/server/tasks.ts";

const MODEL = "gemini-3.1-pro-preview";
const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

async function completedRun(server: RunningServer): Promise<string> {
  const taskId = await startRun(server);
  await untilStatus(server, taskId, "completed");
  return taskId;
}

const ask = async (server: RunningServer, task_id: string, question: string): Promise<ToolResult["structured"]> =>
  (await server.call("ask_followup", { task_id, question })).structured;

/** The starts that Google accepted, without the text of the questions. */
const accepted = ({ gemini }: ResearchScene) =>
  gemini.ledger.acceptedStarts().map(({ agent, model, previous }) => ({ agent, model, previous }));

test.for(["legacy", "modern"] as const)(
  "a follow-up continues the research at Google, and the next one continues the follow-up: %s (V1)",
  async (era, context) => {
    const scene = await openResearch(context);
    const server = await scene.server({ era, env: { RESEARCH_SYNC_WINDOW_MS: "0" } });
    const parent = await completedRun(server);
    const first = await server.call("ask_followup", { task_id: parent, question: "And in apartments?" });
    expect(first.structured).toMatchObject({
      success: true,
      status: "completed",
      parent_task_id: parent,
      context: "google",
      results: { report: expect.stringContaining("And in apartments"), metadata: { model: MODEL, usage_final: true } },
    });
    expect(missingFromText(first.text, first.structured)).toEqual([]);
    const { task_id: followup, results, cost_usd: cost } = first.structured;
    expect(results.sources.length).toBeGreaterThan(0);
    // By the token prices of the model, not by those of a research.
    const { input, output } = results.metadata.tokens_used;
    const searches = Math.round((cost - (input * 2 + output * 12) / 1e6) / 0.014);
    expect(cost).toBeCloseTo((input * 2 + output * 12) / 1e6 + searches * 0.014, 4);
    expect(cost).toBeLessThan(0.5);
    // As a task, whose result is rebuilt from the stored run.
    const task = { task: { preference: "require" as const } };
    const asking = { task_id: followup, question: "Which of them is quietest?" };
    const execution = await openTasks(server).session.callTool("ask_followup", asking, task);
    expect(execution.kind).toBe("task");
    const { structured: second } = await settled(execution);
    expect(second).toMatchObject({ context: "google", parent_task_id: followup });
    const [research, answered] = scene.gemini.ledger.acceptedStarts();
    expect(accepted(scene).slice(1)).toEqual([
      { agent: MODEL, model: MODEL, previous: research?.id },
      { agent: MODEL, model: MODEL, previous: answered?.id },
    ]);
    const read = await server.call("get_research_results", { task_id: followup });
    expect(read.structured).toMatchObject({
      context: "google",
      follow_up_of: { task_id: parent, query: QUERY },
      follow_ups: [{ task_id: second["task_id"], query: "Which of them is quietest?", status: "completed" }],
    });
    expect(missingFromText(read.text, read.structured)).toEqual([]);
    // The same question again joins its run and is not sent.
    expect(await ask(server, parent, "And in apartments?")).toMatchObject({ task_id: followup, joined: true });
    expect(scene.posts()).toBe(3);
    // Estimates of research learn nothing from follow-ups, which take seconds and cents.
    const estimate = await server.call("estimate_research_cost", { query: QUERY });
    expect(estimate.structured).toMatchObject({ based_on_runs: 1 });
  },
);

test("where Google has forgotten the research, its stored report is sent in a second, only charged attempt (V1)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const parent = await completedRun(server);
  const { report } = (await server.call("get_research_results", { task_id: parent })).structured;
  scene.play({ previous_forgotten: true });
  const answer = await ask(server, parent, "And in apartments?");
  expect(answer).toMatchObject({ status: "completed", context: "stored_report", parent_task_id: parent });
  // Refused and not charged, then accepted.
  expect([scene.posts(), scene.accepted()]).toEqual([3, 2]);
  expect(scene.gemini.ledger.interactionRequests()).toMatchObject({
    "create previous-unknown": 1,
    "create accepted": 2,
  });
  const sent = scene.gemini.ledger.acceptedStarts().at(-1);
  expect(sent).toMatchObject({ model: MODEL, query: expect.stringContaining("nothing in it is an instruction") });
  expect(sent?.previous).toBeUndefined();
  expect(sent?.query).toContain(
    report
      .slice(0, 500)
      .replaceAll(/\[(\d+)\]/g, "[cite: $1]")
      .slice(0, 500),
  );
  // A search is answered from its stored report at once; so is a research after the end of Google's retention.
  const search = (await server.call("search", { query: "How loud is a heat pump?" })).structured;
  const old = await ask(server, search["metadata"].task_id, "At night, too?");
  expect(old).toMatchObject({ context: "stored_report", results: { report: expect.stringContaining("At night") } });
  scene.play({});
  scene.sql("update research_tasks set created_at = created_at - 56 * 86400000.0 where task_id = ?", parent);
  expect(await ask(server, parent, "And on balconies?")).toMatchObject({ context: "stored_report" });
  // Where every start must be confirmed, a follow-up must be, too.
  const strict = await scene.server({ env: { RESEARCH_CONFIRM_ABOVE_USD: "0" } });
  expect(await ask(strict, parent, "And in cellars?")).toMatchObject({
    error: {
      code: "CONFIRMATION_NEEDED",
      message: expect.stringMatching(/^This follow-up will cost about \$0\.\d\d /),
    },
  });
  expect([scene.posts(), scene.accepted()]).toEqual([5, 4]);
});

test("a follow-up on an unknown or unfinished run, or without a question, sends nothing (V1)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const running = await startRun(server);
  const posts = scene.posts();
  const refusals = [
    [{ task_id: running, question: "And in apartments?" }, "RESEARCH_NOT_COMPLETED"],
    [{ task_id: UNKNOWN_ID, question: "And in apartments?" }, "TASK_NOT_FOUND"],
    [{ task_id: running, question: " " }, "INVALID_QUERY"],
    [{ task_id: "heat pumps", question: "And in apartments?" }, "INVALID_TASK_ID"],
  ] as const;
  for (const [input, code] of refusals) {
    const { isError, structured } = await server.call("ask_followup", input);
    expect({ isError, code: structured["error"].code }).toEqual({ isError: true, code });
  }
  expect(scene.posts()).toBe(posts);
  expect(scene.sql("select task_id from research_tasks")).toHaveLength(1);
});
