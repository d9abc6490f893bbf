/** The tasks extension of 2026-07-28: a call returns a task handle, which the client polls until the task ends. */

import {
  type CallToolResult,
  type McpServer,
  MissingRequiredClientCapabilityError,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { isoTime } from "../../platform/clock.ts";
import { answerLimitOf, clientOf, type Connection } from "../client.ts";
import { serveLegacyTasks } from "./legacy-tasks.ts";
import { isTerminal, requireTask, type TaskSource, type TaskState } from "./task-source.ts";

const EXTENSION = "io.modelcontextprotocol/tasks";
const REQUIRED = { extensions: { [EXTENSION]: {} } };

export const taskCapabilities = (protocolEra: Connection["protocolEra"]): ServerCapabilities =>
  protocolEra === "modern" ? REQUIRED : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

/** Clients declare the extension with every request; without it, a request must not get a task handle. */
export const declaresTasks = ({ server }: McpServer, context: ServerContext): boolean =>
  clientOf(server, context).capabilities.extensions?.[EXTENSION] !== undefined;

const taskParams = z.looseObject({ taskId: z.string() });

export function serveTasks(mcpServer: McpServer, tasks: TaskSource, connection: Connection): void {
  if (connection.protocolEra === "legacy") return serveLegacyTasks(mcpServer, tasks, connection);
  const { server } = mcpServer;
  const { caller } = connection;
  const findTask = async (taskId: string, context: ServerContext): Promise<TaskState> => {
    if (!declaresTasks(mcpServer, context)) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: REQUIRED });
    }
    return requireTask(tasks, { ...caller, answerLimit: answerLimitOf(server, context) }, taskId);
  };
  const params = { params: taskParams };
  server.setRequestHandler("tasks/get", params, async ({ taskId }, context) =>
    detailed(await findTask(taskId, context)),
  );
  server.setRequestHandler("tasks/cancel", params, async ({ taskId }, context) => {
    const { status } = await findTask(taskId, context);
    if (!isTerminal(status)) await tasks.cancel(caller, taskId);
    return {};
  });
  server.setRequestHandler("tasks/update", params, async ({ taskId }, context) => {
    await findTask(taskId, context);
    await tasks.update(caller.owner, taskId, context.mcpReq.inputResponses ?? {});
    return {};
  });
}

/** The result of tools/call for a call that became a task. */
export const taskHandle = (task: TaskState): CallToolResult => ({ ...head(task), resultType: "task", content: [] });

const head = ({ taskId, status, message, createdAt, updatedAt, ttlMs, pollMs }: TaskState) => ({
  taskId,
  status,
  statusMessage: message,
  createdAt: isoTime(createdAt),
  lastUpdatedAt: isoTime(updatedAt),
  ttlMs,
  pollIntervalMs: pollMs,
});

function detailed(task: TaskState) {
  if (task.status === "completed") return { ...head(task), result: { resultType: "complete", ...task.result } };
  if (task.status === "failed") return { ...head(task), error: task.error };
  if (task.status === "input_required") return { ...head(task), inputRequests: task.inputRequests };
  return head(task);
}
