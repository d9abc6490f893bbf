/** Cancelling over HTTP: a modern client closes its stream, a legacy client sends a notification. */

import { announcedRun } from "../kit/server/server.ts";
import { expect, test } from "vitest";
import { type HttpClient, type HttpScene, openHttpScene } from "../kit/server/http-server.ts";
import type { CallOptions, ToolResult } from "../kit/server/server.ts";
import { storedRun } from "../kit/store/stored-run.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const SOON = { interval: 20 };
const STUCK_IN_ROUND_2 = { name: "stuck-in-round-2", tasks: { verify: [{ round: 2, fault: "hang" as const }] } };

interface InRound2 {
  taskId: string;
  call: Promise<ToolResult | undefined>;
}

async function reachRound2(scene: HttpScene, { call }: HttpClient, options: CallOptions): Promise<InRound2> {
  const messages: string[] = [];
  const onProgress = (message: string): void => void messages.push(message);
  const called = call("deep_search", { query: QUERY }, { ...options, onProgress }).catch(() => undefined);
  await waitFor(() => expect(scene.gemini.ledger.count("verify")).toBe(1), SOON);
  await waitFor(() => expect(messages.join("\n")).toContain("(run "), SOON);
  return { taskId: await announcedRun(call, messages), call: called };
}

async function expectCancelled(scene: HttpScene, taskId: string): Promise<void> {
  await waitFor(() => expect(scene.gemini.ledger.entries()[1]?.outcome).toBe("aborted"), SOON);
  await waitFor(
    () => expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "cancelled", error_code: "CANCELLED" }),
    SOON,
  );
}

async function expectRound1(reader: HttpClient, taskId: string): Promise<void> {
  const { structured } = await reader.call("get_research_results", { task_id: taskId });
  expect(structured).toMatchObject({
    success: true,
    partial: true,
    status: "cancelled",
    report: expect.stringMatching(/^# How do heat pumps/),
  });
}

test("a modern client that closes its stream cancels the call, and its text is kept (A9, G8)", async (context) => {
  const scene = await openHttpScene(context, STUCK_IN_ROUND_2);
  const server = await scene.http();
  const http = await server.connect("modern");
  const controller = new AbortController();
  const { taskId, call } = await reachRound2(scene, http, { signal: controller.signal });
  controller.abort();
  expect(await call).toBeUndefined();
  await expectCancelled(scene, taskId);
  await expectRound1(await server.connect("modern"), taskId);
  expect(server.stdout()).toBe("");
});

test("a modern client that is killed cancels its call (A9, G8)", async (context) => {
  const scene = await openHttpScene(context, STUCK_IN_ROUND_2);
  const server = await scene.http();
  const http = await server.connect("modern");
  const { taskId } = await reachRound2(scene, http, {});
  await http.close();
  await expectCancelled(scene, taskId);
});

test("a legacy client cancels by a notification in its session (A9, G8)", async (context) => {
  const scene = await openHttpScene(context, STUCK_IN_ROUND_2);
  const server = await scene.http();
  const http = await server.connect("legacy");
  const controller = new AbortController();
  const { taskId, call } = await reachRound2(scene, http, { signal: controller.signal });
  controller.abort();
  expect(await call).toBeUndefined();
  await expectCancelled(scene, taskId);
  await expectRound1(http, taskId);
});

test("a legacy client whose connection drops does not cancel its call: the answer is stored (A9)", async (context) => {
  const scene = await openHttpScene(context, { name: "slow-round-2", tasks: { verify: [{ latency_ms: 1_500 }] } });
  const server = await scene.http();
  const http = await server.connect("legacy");
  const { taskId } = await reachRound2(scene, http, {});
  await http.close();
  await waitFor(() => expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "completed" }), {
    timeout: 60_000,
    interval: 50,
  });
});

test("a cancel from another session changes nothing (A9)", async (context) => {
  const scene = await openHttpScene(context, STUCK_IN_ROUND_2);
  const server = await scene.http();
  const [mine, other] = [await server.connect("legacy"), await server.connect("legacy")];
  const { taskId } = await reachRound2(scene, mine, {});
  for (let requestId = 0; requestId < 5; requestId += 1)
    await other.client.notification({ method: "notifications/cancelled", params: { requestId } });
  await other.client.ping();
  expect(storedRun(scene.configDir, taskId)).toMatchObject({ status: "running" });
  expect(scene.gemini.ledger.entries()[1]?.outcome).toBe("pending");
});
