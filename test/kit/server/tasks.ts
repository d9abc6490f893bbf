/** A server's tasks through the official tasks client, in the protocol era of the connection. */

import type { Client } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, type RawClientDispatch } from "@modelcontextprotocol/ext-tasks/client";
import type { ToolResult } from "./server.ts";

export type TaskSession = ReturnType<typeof createTaskSessionFromClient>;
export type TaskId = Parameters<TaskSession["cancelTask"]>[0];
type RawResponse = Awaited<ReturnType<RawClientDispatch>>;

/** The tasks client and raw access to one server. */
export interface Tasks {
  session: TaskSession;
  /** Sends one request unchanged, without a client; modern requests declare the extension. */
  raw: (method: string, params: Record<string, unknown>) => Promise<RawAnswer>;
}

export interface RawAnswer {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers of every shape
  result?: Record<string, any>;
  error?: { code: number; message: string; data?: unknown };
}

const VERSION = "2026-07-28";
const CLIENT = { name: "test-client", version: "1.0.0" };
export const EXTENSION = "io.modelcontextprotocol/tasks";

/** A connected client, over any transport. */
interface Connected {
  client: Client;
}

export function openTasks(server: Connected): Tasks {
  const dispatch = rawDispatch(server);
  const modern = server.client.getProtocolEra() === "modern";
  const session = createTaskSessionFromClient(server.client, {
    endpointId: "test",
    ...(modern && {
      rawDispatch: dispatch,
      v2RequestFraming: { protocolVersion: VERSION, clientInfo: CLIENT, clientCapabilities: {} },
    }),
  });
  const _meta = modern ? envelope({ extensions: { [EXTENSION]: {} } }) : {};
  return {
    session,
    raw: async (method, params) => {
      const answer = await dispatch({ method, params: { _meta, ...params } });
      return answer.kind === "result" ? { result: answer.result as object } : { error: answer.error };
    },
  };
}

/** The `_meta` of every modern request. */
export const envelope = (clientCapabilities: object) => ({
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
});

/** Intercepts responses to raw requests, because the client rejects responses to ids that it does not know. */
function rawDispatch({ client }: Connected): RawClientDispatch {
  const { transport } = client;
  if (transport === undefined) throw new Error("The client is not connected.");
  const waiting = new Map<string | number, (response: RawResponse) => void>();
  const { onmessage } = transport;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has this one place and no events
  transport.onmessage = (message, extra) => {
    const settle = "id" in message && !("method" in message) ? waiting.get(message.id ?? "") : undefined;
    if (settle === undefined) onmessage?.(message, extra);
    else if ("error" in message) settle({ kind: "error", error: message.error as never });
    else if ("result" in message) settle({ kind: "result", result: message.result as never });
  };
  let count = 0;
  return async (request) => {
    const id = `raw-${(count += 1)}`;
    const { promise, resolve } = Promise.withResolvers<RawResponse>();
    waiting.set(id, resolve);
    await transport.send({ ...(request as { method: string }), jsonrpc: "2.0", id });
    return promise;
  };
}

/** The result of an ended task, in the form of the blocking call: text and structured content. */
export async function settled(execution: Awaited<ReturnType<TaskSession["callTool"]>>): Promise<ToolResult> {
  const { outcome } = await execution.settle();
  if (outcome.status !== "completed") throw new Error(`The task is ${outcome.status}.`);
  return resultOf(outcome.result as RawAnswer["result"]);
}

export const resultOf = (result: RawAnswer["result"] = {}): ToolResult => ({
  isError: result["isError"] === true,
  structured: result["structuredContent"],
  text: result["content"]?.[0]?.text ?? "",
});

/** The id of a call that became a task. */
export async function taskOf(
  { session }: Tasks,
  tool: string,
  input: Record<string, string | number | boolean>,
): Promise<TaskId> {
  const execution = await session.callTool(tool, input, { task: { preference: "require" } });
  if (execution.kind !== "task") throw new Error(`${tool} did not become a task.`);
  await execution.detach();
  return execution.handle.taskId;
}
