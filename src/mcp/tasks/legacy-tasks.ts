/** Tasks of 2025-11-25: the client requests one with the call, and tasks/result waits for its end. */

import {
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { AppError } from "../../errors.ts";
import type { Failure } from "../../operations/perform.ts";
import { isoTime } from "../../platform/clock.ts";
import { answerLimitOf, type Connection } from "../client.ts";
import { createProgressReporter } from "../progress.ts";
import { isTerminal, requireTask, type ListedTask, type TaskSource, type TaskState } from "./task-source.ts";

/** A waiting tasks/result polls the store, because the task may run in another process. */
const POLL_INTERVAL_MS = 500;

const params = { params: z.looseObject({ taskId: z.string() }) };
const page = { params: z.looseObject({ cursor: z.string().max(200).optional() }) };

export function serveLegacyTasks({ server }: McpServer, tasks: TaskSource, { caller }: Connection): void {
  const findTask = (taskId: string, context: ServerContext): Promise<TaskState> =>
    requireTask(tasks, { ...caller, answerLimit: answerLimitOf(server, context) }, taskId);
  server.setRequestHandler("tasks/get", params, async ({ taskId }, context) =>
    legacyTask(asListed(await findTask(taskId, context))),
  );
  server.setRequestHandler("tasks/result", params, async ({ taskId }, context) => {
    const ended = await waitForEnd(() => findTask(taskId, context), context);
    return { ...payload(ended), _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
  });
  server.setRequestHandler("tasks/cancel", params, async ({ taskId }, context) => {
    const { status } = await findTask(taskId, context);
    if (isTerminal(status)) throw invalid(`The task has already ended (${status}) and cannot be cancelled.`);
    await tasks.cancel(caller, taskId);
    return legacyTask(asListed(await findTask(taskId, context)));
  });
  server.setRequestHandler("tasks/list", page, async ({ cursor }) => {
    const { tasks: found, nextCursor } = await tasks.list(caller.owner, cursor).catch(refuseCursor);
    return { tasks: found.map(legacyTask), ...(nextCursor === undefined ? {} : { nextCursor }) };
  });
}

/** The result of tools/call for a call that became a task. The protocol requires "working" as its first status. */
export const legacyTaskHandle = (task: TaskState): CallToolResult => ({
  content: [],
  task: { ...legacyTask(asListed(task)), status: "working" },
});

/** A client that requested a task accepts no other result: a call that failed before becoming one is an error. */
export function failedBeforeTask({ structured, text }: Failure): ProtocolError {
  const code = structured.error.code.startsWith("INVALID_")
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, text, structured);
}

async function waitForEnd(poll: () => Promise<TaskState>, context: ServerContext): Promise<TaskState> {
  const { progress, stop } = createProgressReporter(context);
  let lastMessage: string | undefined;
  try {
    for (;;) {
      const task = await poll();
      if (isTerminal(task.status)) return task;
      if (task.message !== lastMessage) progress((lastMessage = task.message));
      await delay(POLL_INTERVAL_MS, undefined, { signal: context.mcpReq.signal });
    }
  } finally {
    stop();
  }
}

function payload(task: TaskState): CallToolResult {
  if (task.status === "completed" || task.status === "cancelled") return task.result;
  if (task.status === "failed") throw new ProtocolError(task.error.code, task.error.message, task.error.data);
  throw new Error("A task that has not ended has no result.");
}

const asListed = (task: TaskState): ListedTask => ({
  ...task,
  toolFailed: task.status === "completed" && task.result.isError === true,
});

/** A tool's own error makes a task "failed" here and "completed" in the extension. */
const legacyTask = ({ taskId, status, toolFailed, message, createdAt, updatedAt, ttlMs, pollMs }: ListedTask) => ({
  taskId,
  status: toolFailed ? "failed" : status,
  statusMessage: message,
  createdAt: isoTime(createdAt),
  lastUpdatedAt: isoTime(updatedAt),
  ttl: ttlMs,
  pollInterval: pollMs,
});

function refuseCursor(error: unknown): never {
  throw error instanceof AppError && error.code === "INVALID_INPUT" ? invalid(error.message) : error;
}

const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
