/** Both versions of the tasks protocol over a stub: states that a TaskSource can return and runs never have. */

import { Client } from "@modelcontextprotocol/client";
import { createMcpHandler, InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { TaskSource, TaskState } from "./task-source.ts";
import { serveTasks, taskCapabilities } from "./tasks.ts";
import { LOCAL_CALLER } from "../../caller.ts";
import { toolSet } from "../../config/tool-sets.ts";
import type { Connection } from "../client.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

const HEAD = { taskId: "t", createdAt: 0, updatedAt: 0, ttlMs: null, pollMs: 10, message: "m" };
const ERROR = { code: -32_603, message: "broken", data: { why: "so" } };
const REQUESTS = {
  name: {
    method: "elicitation/create" as const,
    params: {
      mode: "form" as const,
      message: "Name?",
      requestedSchema: { type: "object" as const, properties: { name: { type: "string" as const } } },
    },
  },
};

/** A source with one task, in a fixed state. */
function oneTask(state: TaskState): TaskSource & { polls: number; updates: unknown[] } {
  const source = {
    polls: 0,
    updates: [] as unknown[],
    find: async (_reader: unknown, taskId: string) => {
      source.polls += 1;
      return taskId === "t" ? state : undefined;
    },
    cancel: async () => {},
    update: async (owner: string, taskId: string, responses: unknown) =>
      void source.updates.push([owner, taskId, responses]),
    list: async () => ({ tasks: [], nextCursor: undefined }),
  };
  return source;
}

function serve(tasks: TaskSource, era: Connection["protocolEra"]): McpServer {
  const server = new McpServer({ name: "s", version: "1" }, { capabilities: { tools: {}, ...taskCapabilities(era) } });
  serveTasks(server, tasks, { caller: LOCAL_CALLER, protocolEra: era, tools: toolSet("all") });
  return server;
}

async function modern(tasks: TaskSource, method: string, params: object): Promise<unknown> {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    "mcp-name": "t",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const handler = createMcpHandler(() => serve(tasks, "modern"));
  const response = await handler.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
  return response.json();
}

async function legacyClient(tasks: TaskSource): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await Promise.all([serve(tasks, "legacy").connect(there), client.connect(here)]);
  onTestFinished(() => client.close());
  return client;
}

test("a task that needs input shows its requests, and passes the responses on", async () => {
  const tasks = oneTask({ ...HEAD, status: "input_required", inputRequests: REQUESTS });
  expect(await modern(tasks, "tasks/get", { taskId: "t" })).toMatchObject({
    result: { resultType: "complete", status: "input_required", inputRequests: REQUESTS },
  });
  const inputResponses = { name: { action: "accept", content: { name: "x" } } };
  expect(await modern(tasks, "tasks/update", { taskId: "t", inputResponses })).toMatchObject({
    result: { resultType: "complete" },
  });
  expect(tasks.updates).toEqual([["local", "t", inputResponses]]);
});

test("a task that failed as a request shows the protocol error, and its result is that error", async () => {
  const tasks = oneTask({ ...HEAD, status: "failed", error: ERROR });
  expect(await modern(tasks, "tasks/get", { taskId: "t" })).toMatchObject({
    result: { status: "failed", error: ERROR, statusMessage: "m" },
  });
  const client = await legacyClient(tasks);
  const result = client.request({ method: "tasks/result", params: { taskId: "t" } }, z.looseObject({}));
  await expect(result).rejects.toMatchObject(ERROR);
});

test("a cancelled tasks/result stops polling the task", async () => {
  const tasks = oneTask({ ...HEAD, status: "working" });
  const client = await legacyClient(tasks);
  const controller = new AbortController();
  const { signal } = controller;
  const params = { taskId: "t" };
  const waiting = client.request({ method: "tasks/result", params }, z.looseObject({}), { signal });
  await waitFor(() => expect(tasks.polls).toBeGreaterThanOrEqual(2));
  controller.abort();
  await expect(waiting).rejects.toThrow();
  // The next request is served after the cancel was.
  await client.request({ method: "tasks/get", params }, z.looseObject({}));
  const { polls } = tasks;
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(tasks.polls).toBe(polls);
});
