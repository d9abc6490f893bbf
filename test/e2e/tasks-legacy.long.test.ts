/** Tasks of 2025-11-25: requested with the call, polled with tasks/get, fetched with a tasks/result that waits. */

import { resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { describe, expect, test } from "vitest";
import { openResearch, QUERY, SLOW } from "../kit/server/research.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import type { RunningServer } from "../kit/server/server.ts";
import { openTasks, type RawAnswer, resultOf, settled, taskOf, type Tasks } from "../kit/server/tasks.ts";
import { waitFor } from "../kit/wait-for.ts";

const SOON = { interval: 25 };
/** RESEARCH_KEEP_DAYS. */
const KEPT_MS = 730 * 86_400_000;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const AS_TASK = { task: { preference: "require" as const } };
const HANGING = { name: "hang", tasks: { search: [{ fault: "hang" as const }] } };

async function start(scene: Scene): Promise<{ server: RunningServer; tasks: Tasks }> {
  const server = await scene.server({ era: "legacy", env: { GEMINI_SEARCH_TOOLS: "all" } });
  return { server, tasks: openTasks(server) };
}

/** A raw call that requests a task. */
const call = (tasks: Tasks, name: string, input: object, task: object = {}): Promise<RawAnswer> =>
  tasks.raw("tools/call", { name, arguments: input, task });

describe("through the official tasks client", () => {
  test.for([
    ["search", { query: QUERY }],
    ["deep_search", { query: QUERY }],
    ["deep_research", { topic: QUERY }],
  ] as const)("%s is a task on request, and a blocking call otherwise", async ([tool, input], context) => {
    const { server, tasks } = await start(await openScene(context));
    const execution = await tasks.session.callTool(tool, input, AS_TASK);
    expect(execution.kind).toBe("task");
    const asTask = await settled(execution);
    const blocking = await server.call(tool, input);
    expect(asTask.isError).toBe(false);
    expect(asTask.text).not.toBe("");
    expect(Object.keys(asTask.structured)).toEqual(Object.keys(blocking.structured));
    expect(Object.keys(asTask.structured["metadata"])).toEqual(Object.keys(blocking.structured["metadata"]));
  });

  test("a research ends with its report, even when its server exited meanwhile (I4)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const first = await start(scene);
    const taskId = await taskOf(first.tasks, "start_deep_research", { query: QUERY });
    await waitFor(() => expect(scene.accepted()).toBe(1), SOON);
    await first.server.close();
    const { tasks } = await start(scene);
    const waiting = tasks.session.task(taskId).result();
    scene.gemini.skip(8 * 60_000);
    const result = resultFromTaskOutcome(await waiting) as RawAnswer["result"];
    expect(resultOf(result).structured).toMatchObject({ status: "completed", mode: "async", task_id: taskId });
    expect(scene.posts()).toBe(1);
  });

  test("a tool's error fails the task, and its result holds the error (A6)", async (context) => {
    const { tasks } = await start(await openScene(context, "refusal"));
    const taskId = await taskOf(tasks, "search", { query: QUERY });
    const { result } = await tasks.raw("tasks/result", { taskId });
    expect(resultOf(result)).toMatchObject({ isError: true, structured: { error: { code: "SEARCH_FAILED" } } });
    const { structured } = resultOf(result);
    expect(await tasks.session.task(taskId).snapshot()).toMatchObject({
      status: "failed",
      statusMessage: `SEARCH_FAILED: ${structured["error"].message}`,
    });
  });
});

describe("by raw requests", () => {
  test("tasks are declared by the server and by the tools that may take long", async (context) => {
    const { server } = await start(await openScene(context));
    expect(server.client.getServerCapabilities()).toMatchObject({
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    expect(server.client.getServerCapabilities()).not.toHaveProperty("extensions");
    const { tools } = await server.client.listTools();
    const lasting = tools.filter(({ execution }) => execution?.taskSupport === "optional").map(({ name }) => name);
    expect(lasting).toEqual(["search", "deep_search", "start_deep_research", "ask_followup", "deep_research"]);
    expect(tools.filter((tool) => "execution" in tool)).toHaveLength(lasting.length);
  });

  test("a task call returns a task, and tasks/result returns what the call would have returned", async (context) => {
    const { tasks } = await start(await openScene(context));
    const { result: created } = await call(tasks, "search", { query: QUERY }, { ttl: 60_000 });
    expect(created).toMatchObject({ content: [], task: { status: "working", ttl: KEPT_MS, pollInterval: 1_000 } });
    const taskId: string = created?.["task"].taskId;
    const { result } = await tasks.raw("tasks/result", { taskId });
    expect(resultOf(result)).toMatchObject({ isError: false, structured: { success: true } });
    expect(result?.["_meta"]).toEqual({ "io.modelcontextprotocol/related-task": { taskId } });
    expect((await tasks.raw("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "completed" });
  });

  test("tasks/result waits for the end; cancelling that wait leaves the task alone", async (context) => {
    const { server, tasks } = await start(await openScene(context, HANGING));
    const { result: created } = await call(tasks, "search", { query: QUERY });
    const taskId: string = created?.["task"].taskId;
    const [given, kept] = [tasks.raw("tasks/result", { taskId }), tasks.raw("tasks/result", { taskId })];
    // The call was the first raw request of this connection.
    await server.client.notification({ method: "notifications/cancelled", params: { requestId: "raw-2" } });
    expect((await tasks.raw("tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
    await tasks.raw("tasks/cancel", { taskId });
    const { result } = await kept;
    expect(resultOf(result)).toMatchObject({ isError: true, structured: { error: { code: "CANCELLED" } } });
    expect(await Promise.race([given, Promise.resolve("never answered")])).toBe("never answered");
  });

  test("tasks/cancel ends a task; its result is that of the cancelled call, and a second cancel is refused (L1)", async (context) => {
    const scene = await openScene(context, HANGING);
    const [first, second] = [await start(scene), await start(scene)];
    const taskId = await taskOf(first.tasks, "search", { query: QUERY });
    expect(await second.tasks.raw("tasks/cancel", { taskId })).toMatchObject({
      result: { taskId, status: "cancelled" },
    });
    const { result } = await first.tasks.raw("tasks/result", { taskId });
    expect(resultOf(result)).toMatchObject({ isError: true, structured: { error: { code: "CANCELLED" } } });
    expect(await first.tasks.raw("tasks/cancel", { taskId })).toMatchObject({ error: { code: -32602 } });
  });

  test("tasks/list pages through all runs of the caller, newest first (Q2)", async (context) => {
    const scene = await openResearch(context);
    const { server, tasks } = await start(scene);
    await server.call("search", { query: QUERY });
    scene.sql(`
      with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 69)
      insert into research_tasks (task_id, owner, kind, query, status, progress, options_json, enable_notifications,
        created_at, updated_at, keep_partial, tokens_input, tokens_output, usage_final)
      select 'older-' || n, case when n < 60 then 'local' else 'somebody' end, 'search', 'q', 'failed', 0, '{}', 0,
        n, n, 1, 0, 0, 0 from numbers`);
    const { result: newest } = await tasks.raw("tasks/list", {});
    expect(newest?.["tasks"]).toHaveLength(50);
    expect(newest?.["tasks"].slice(0, 2)).toMatchObject([
      { status: "completed", ttl: KEPT_MS },
      { taskId: "older-59", status: "failed", createdAt: "1970-01-01T00:00:00.059Z" },
    ]);
    const { result: oldest } = await tasks.raw("tasks/list", { cursor: newest?.["nextCursor"] });
    expect(oldest?.["tasks"]).toHaveLength(11);
    expect(oldest?.["tasks"].at(-1)).toMatchObject({ taskId: "older-0" });
    expect(oldest).not.toHaveProperty("nextCursor");
    expect(await tasks.raw("tasks/list", { cursor: "nonsense" })).toMatchObject({ error: { code: -32602 } });
  });

  test("a call that ends before it becomes a task is refused with a sentence of ours (A6)", async (context) => {
    const { server, tasks } = await start(await openScene(context));
    expect(await call(tasks, "search", { query: "?" })).toMatchObject({
      error: {
        code: -32602,
        message: expect.stringContaining("INVALID_QUERY: query must have at least one letter or digit."),
      },
    });
    expect(await call(tasks, "list_research", {})).toMatchObject({ error: { code: -32601 } });
    expect((await server.call("list_research", {})).structured["runs"]).toEqual([]);
  });

  test("a task of another owner is answered exactly like one that does not exist (T14)", async (context) => {
    const scene = await openResearch(context);
    const { tasks } = await start(scene);
    const taskId = await taskOf(tasks, "search", { query: QUERY });
    await tasks.raw("tasks/result", { taskId });
    scene.sql("update research_tasks set owner = 'somebody else'");
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      const ofOtherOwner = await tasks.raw(method, { taskId });
      expect(ofOtherOwner).toMatchObject({ error: { code: -32602 } });
      expect(ofOtherOwner).toEqual(await tasks.raw(method, { taskId: UNKNOWN }));
    }
    expect(await tasks.raw("tasks/list", {})).toMatchObject({ result: { tasks: [] } });
  });
});
