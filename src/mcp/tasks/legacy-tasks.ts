/** Tasks as 2025-11-25 had them: asked for with the call, their results fetched by a request that waits. */

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
import { audible } from "../progress.ts";
import { isTerminal, knownTask, type ListedTask, type TaskSource, type TaskState } from "./task-source.ts";
import type { Visit } from "../visit.ts";

/** How often a waiting tasks/result looks: whoever works on the task may be another process. */
const LOOK_EVERY_MS = 500;

const params = { params: z.looseObject({ taskId: z.string() }) };
const page = { params: z.looseObject({ cursor: z.string().max(200).optional() }) };

export function serveLegacyTasks({ server }: McpServer, tasks: TaskSource, { caller }: Visit): void {
  const known = (taskId: string): Promise<TaskState> => knownTask(tasks, caller.owner, taskId);
  server.setRequestHandler("tasks/get", params, async ({ taskId }) => legacyTask(asListed(await known(taskId))));
  server.setRequestHandler("tasks/result", params, async ({ taskId }, context) => {
    const ended = await untilEnded(() => known(taskId), context);
    return { ...payload(ended), _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
  });
  server.setRequestHandler("tasks/cancel", params, async ({ taskId }) => {
    const { status } = await known(taskId);
    if (isTerminal(status)) throw invalid(`The task has ended already (${status}), so it cannot be cancelled.`);
    await tasks.cancel(caller, taskId);
    return legacyTask(asListed(await known(taskId)));
  });
  server.setRequestHandler("tasks/list", page, async ({ cursor }) => {
    const { tasks: found, nextCursor } = await tasks.list(caller.owner, cursor).catch(refuseCursor);
    return { tasks: found.map(legacyTask), ...(nextCursor === undefined ? {} : { nextCursor }) };
  });
}

/** What tools/call returns in place of an answer. Every task begins as working, however soon it has ended. */
export const legacyTaskHandle = (task: TaskState): CallToolResult => ({
  content: [],
  task: { ...legacyTask(asListed(task)), status: "working" },
});

/** Who asked for a task can be given nothing else: a call that ended before it became one is refused. */
export function withoutTask({ structured, text }: Failure): ProtocolError {
  const code = structured.error.code.startsWith("INVALID_")
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, text, structured);
}

async function untilEnded(look: () => Promise<TaskState>, context: ServerContext): Promise<TaskState> {
  const { progress, stop } = audible(context);
  let said: string | undefined;
  try {
    for (;;) {
      const task = await look();
      if (isTerminal(task.status)) return task;
      if (task.message !== said) progress((said = task.message));
      await delay(LOOK_EVERY_MS, undefined, { signal: context.mcpReq.signal });
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

/** A tool's own error makes a task failed here, where the extension calls it completed. */
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
