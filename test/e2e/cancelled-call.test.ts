/** A client that cancels the call of a paid start cancels its run; one that disconnects, or whose run was joined, does not. */

import { describe, expect, test } from "vitest";
import { type HttpClient, startHttpServer } from "../kit/server/http-server.ts";
import {
  openResearch,
  QUERY,
  type ResearchScene,
  SLOW,
  startRun,
  statusOf,
  untilStatus,
} from "../kit/server/research.ts";
import type { CallOptions, Era, RunningServer, ToolResult } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const ERAS: Era[] = ["legacy", "modern"];
/** The call waits for the report, so that it can be cancelled. */
const WAITING = { RESEARCH_SYNC_WINDOW_MS: "20000" };
const SOON = { timeout: 15_000, interval: 20 };

type Call = (name: string, input: Record<string, unknown>, options?: CallOptions) => Promise<ToolResult>;

/** A start whose client waits for the report, once Google works on it. */
async function waitingStart(scene: ResearchScene, call: Call) {
  const controller = new AbortController();
  const called = call("start_deep_research", { query: QUERY }, { signal: controller.signal }).catch(() => "cancelled");
  const taskId = await waitFor(() => {
    const [run] = scene.sql<{ task_id: string; status: string }>("select task_id, status from research_tasks");
    expect(run?.status).toBe("running_async");
    return run?.task_id ?? "";
  }, SOON);
  return { taskId, called, cancel: () => controller.abort() };
}

const cancels = ({ gemini }: ResearchScene): number =>
  gemini.ledger.acceptedStarts().reduce((sum, { id }) => sum + gemini.ledger.trafficOf(id).cancels.length, 0);

async function expectCancelled(scene: ResearchScene, reader: Pick<RunningServer, "call">, taskId: string) {
  await waitFor(() => expect(cancels(scene)).toBeGreaterThan(0), SOON);
  await waitFor(async () => {
    const { structured } = await reader.call("check_research_status", { task_id: taskId });
    expect(structured).toMatchObject({
      status: "cancelled",
      error: { code: "CANCELLED", message: "The client cancelled the call that had started this run." },
    });
  }, SOON);
}

/** A poll after the disconnect has found the run as it was. */
async function expectRunning(scene: ResearchScene, taskId: string): Promise<void> {
  const reader = await scene.server();
  const polls = (): number => {
    const [start] = scene.gemini.ledger.acceptedStarts();
    return scene.gemini.ledger.trafficOf(start?.id ?? "").polls.length;
  };
  const before = polls();
  await reader.call("check_research_status", { task_id: taskId });
  await waitFor(() => expect(polls()).toBeGreaterThan(before + 1), SOON);
  expect(await statusOf(reader, taskId)).toMatchObject({ status: "running_async" });
  expect(cancels(scene)).toBe(0);
}

describe.each(ERAS)("a %s client over stdio", (era) => {
  test("that cancels its start cancels the run at Google, and the run says so (I12)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server({ era, env: WAITING });
    const { taskId, called, cancel } = await waitingStart(scene, server.call);
    cancel();
    expect(await called).toBe("cancelled");
    await expectCancelled(scene, server, taskId);
    // The same question is another start.
    expect(await startRun(await scene.server({ era }))).not.toBe(taskId);
  });

  test("that quits leaves the run alone (I12)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server({ era, env: WAITING });
    const { taskId } = await waitingStart(scene, server.call);
    await server.close();
    await expectRunning(scene, taskId);
  });
});

test("a start that is cancelled while Google has not answered is cancelled once it has (I12)", async (context) => {
  const scene = await openResearch(context, { ...SLOW, create: [{ latency_ms: 1_500 }] });
  const server = await scene.server({ env: WAITING });
  const controller = new AbortController();
  const called = server
    .call("start_deep_research", { query: QUERY }, { signal: controller.signal })
    .catch(() => "cancelled");
  await waitFor(() => expect(scene.posts()).toBe(1), SOON);
  controller.abort();
  expect(await called).toBe("cancelled");
  const [run] = scene.sql<{ task_id: string }>("select task_id from research_tasks");
  await expectCancelled(scene, server, run?.task_id ?? "");
});

test("a run that another call has joined goes on when its first call is cancelled (I9, I12)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const [first, second] = [await scene.server({ env: WAITING }), await scene.server()];
  const { taskId, called, cancel } = await waitingStart(scene, first.call);
  expect((await second.call("start_deep_research", { query: QUERY })).structured).toMatchObject({
    task_id: taskId,
    joined: true,
  });
  cancel();
  expect(await called).toBe("cancelled");
  await expectRunning(scene, taskId);
});

test("an approval that is cancelled while Google has not answered is not taken back: the research goes on (I12, V2)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const { task_id } = (await server.call("start_deep_research", { query: QUERY, plan: true })).structured;
  await untilStatus(server, task_id, "awaiting_approval");
  scene.play({ ...SLOW, create: [{ latency_ms: 1_500 }] });
  const before = scene.posts();
  const controller = new AbortController();
  const approved = server
    .call("resume_research", { task_id, approve: true }, { signal: controller.signal })
    .catch(() => "cancelled");
  await waitFor(() => expect(scene.posts()).toBe(before + 1), SOON);
  controller.abort();
  expect(await approved).toBe("cancelled");
  await untilStatus(server, task_id, "running_async");
  expect([scene.posts(), cancels(scene)]).toEqual([before + 1, 0]);
});

test("a follow-up that is cancelled is cancelled at Google, too (V1, I12)", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const { task_id } = (await server.call("start_deep_research", { query: QUERY })).structured;
  await untilStatus(server, task_id, "completed");
  scene.play(SLOW);
  const controller = new AbortController();
  const asked = server
    .call("ask_followup", { task_id, question: "And in flats?" }, { signal: controller.signal })
    .catch(() => "cancelled");
  const followup = "select task_id from research_tasks where parent_task_id = ? and status = 'running_async'";
  const [run] = await waitFor(() => {
    const found = scene.sql<{ task_id: string }>(followup, task_id);
    expect(found).toHaveLength(1);
    return found;
  }, SOON);
  controller.abort();
  expect(await asked).toBe("cancelled");
  await expectCancelled(scene, server, run?.task_id ?? "");
});

describe("over HTTP", () => {
  async function openHttp(context: Parameters<typeof openResearch>[0], era: Era) {
    const scene = await openResearch(context, SLOW);
    const { configDir } = scene;
    const server = await startHttpServer({ env: { ...scene.env, ...WAITING }, configDir });
    context.onTestFinished(() => server.close());
    const client = await server.connect(era);
    return { scene, server, client, start: await waitingStart(scene, client.call) };
  }

  test.for(ERAS)("a %s client that cancels its start cancels the run (A9, I12)", async (era, context) => {
    const { scene, server, start } = await openHttp(context, era);
    start.cancel();
    expect(await start.called).toBe("cancelled");
    await expectCancelled(scene, await server.connect(era), start.taskId);
  });

  test.for<[string, (client: HttpClient) => Promise<void>]>([
    ["loses its connection", (client) => client.close()],
    ["ends its session", (client) => client.transport.terminateSession()],
  ])("a legacy client that %s leaves the run alone (A9, I12)", async ([_name, leave], context) => {
    const { scene, client, start } = await openHttp(context, "legacy");
    await leave(client);
    await expectRunning(scene, start.taskId);
  });
});
