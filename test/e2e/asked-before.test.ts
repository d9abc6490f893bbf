/** A question that a report of the user answers already is not paid for a second time unawares, through every front door. */

import { expect, test } from "vitest";
import { z } from "zod";
import { askingClient } from "../kit/server/asking-client.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { openResearch, QUERY, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import type { Era } from "../kit/server/server.ts";

const ANSWER = z.looseObject({
  task_id: z.string().optional(),
  status: z.string().optional(),
  question: z.looseObject({ subject: z.unknown() }).optional(),
});
const FAST = { speed: 1_000, usage_after_ms: 0 };
const QUICK = { RESEARCH_SYNC_WINDOW_MS: "0", RESEARCH_POLL_INTERVAL_MS: "100", RESEARCH_MAX_RPS: "100" };
const AGAIN = "Please give me a detailed report on how heat pumps perform in cold climates";
const OTHER = "How do heat pumps perform in hot climates?";
const DIALOG =
  /^Run [0-9a-f]{8} answered this question less than a minute ago, with \d+ sources?, for \$\d+\.\d\d; reading it is free\. Start this research anyway for about \$\d+\.\d\d \(up to \$\d+\.\d\d\)\? Accept to start anyway, or decline to open that run\.$/;

const answered = async (scene: Awaited<ReturnType<typeof openResearch>>) => {
  const server = await scene.server();
  const task_id = await startRun(server);
  await untilStatus(server, task_id, "completed");
  return { server, task_id };
};

test("a client that cannot ask is told of the report instead of a start, which force_new makes (I14)", async (context) => {
  const scene = await openResearch(context);
  const { server, task_id } = await answered(scene);
  const { structured, text } = await server.call("start_deep_research", { query: AGAIN });
  expect(structured).toMatchObject({
    success: false,
    task_id,
    error: { code: "CONFIRMATION_NEEDED", details: { answered: { task_id, days_ago: 0 } } },
  });
  expect(structured["error"].message).toMatch(/^Run [0-9a-f]{8} answered this question/);
  expect(text).toContain("get_research_results returns its text");
  expect(text).not.toContain("compare_reports");
  const all = await scene.server({ env: { GEMINI_SEARCH_TOOLS: "all" } });
  expect((await all.call("start_deep_research", { query: AGAIN })).text).toContain(
    "start_deep_research with force_new starts a separate run, which is charged; compare_reports then shows what changed.",
  );
  expect(scene.posts()).toBe(1);
  // The same words, but another subject, other wishes, or a decision.
  await startRun(server, OTHER);
  await startRun(server, AGAIN, { language: "de" });
  await startRun(server, AGAIN, { force_new: true });
  expect(scene.posts()).toBe(4);
});

test("a second start while the first is running, minutes after it would have been joined, is asked about (I14)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  const task_id = await startRun(server);
  scene.sql("update research_tasks set created_at = created_at - ?", 12 * 60_000);
  const { structured, text } = await server.call("start_deep_research", { query: AGAIN });
  expect(structured).toMatchObject({ task_id, error: { code: "CONFIRMATION_NEEDED" } });
  expect(structured["error"].message).toMatch(/^Run [0-9a-f]{8} has been researching this question for 12 min\./);
  expect(text).toContain("check_research_status shows its progress");
  expect(scene.posts()).toBe(1);
});

test.for<Era>(["legacy", "modern"])("a %s client asks its user, who decides (I14, I13)", async (era, context) => {
  const scene = await openResearch(context);
  const { task_id } = await answered(scene);
  const no = await askingClient(context, scene, { era, answer: { action: "decline" } });
  const declined = await no.call({ query: AGAIN });
  expect(declined.structured).toMatchObject({ success: false, task_id, error: { code: "DECLINED" } });
  expect(declined.text).toContain("get_research_results returns its text");
  expect(no.dialogs.map(({ message }) => message)).toEqual([expect.stringMatching(DIALOG)]);
  expect(scene.posts()).toBe(1);
  const yes = await askingClient(context, scene, { era, answer: { action: "accept", content: {} } });
  expect((await yes.call({ query: AGAIN })).structured).toMatchObject({ success: true });
  expect(scene.posts()).toBe(2);
});

test("a script is told which report answers it; --yes starts another (I14)", async (context) => {
  const scene = await openResearch(context);
  const { task_id } = await answered(scene);
  const refused = await scene.command(["research", AGAIN, "--no-wait"]);
  expect([refused.code, scene.posts()]).toEqual([1, 1]);
  expect(refused.stderr).toContain(`show ${task_id.slice(0, 8)}`);
  expect(refused.stderr).toContain("Add --yes to start it");
  expect((await scene.command(["research", AGAIN, "--no-wait", "--yes"])).code).toBe(0);
  expect(scene.posts()).toBe(2);
});

test("the page gets the report with the estimate, and asks before a second start (I14)", async (context) => {
  const scene = await openHttpScene(context, { name: "answered", interactions: FAST });
  const http = await scene.http({ env: QUICK });
  const json = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
    return ANSWER.parse(await (await http.request(path, sent)).json());
  };
  const { task_id } = await json("/api/research", { query: QUERY });
  const status = async () => (await json(`/api/runs/${task_id}`)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe("completed");
  const { question } = await json("/api/estimate", { query: AGAIN });
  expect(question).toMatchObject({ answered_by: task_id, text: expect.stringContaining("answered this question") });
  const started = await json("/api/research", { query: AGAIN, agreed: question?.subject });
  expect(started.status).toBe("running_async");
  expect(started.task_id).not.toBe(task_id);
});
