/** Port to the store of MCP tasks, and the state of a task, shared by both versions of the tasks protocol. */

import {
  type CallToolResult,
  type InputRequests,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../caller.ts";
import type { Reader } from "../../operations/operation.ts";

interface TaskHead {
  taskId: string;
  createdAt: number;
  updatedAt: number;
  /** How long a client should wait between two requests. */
  pollMs: number;
  /** Minimum retention, counted from its creation; null: until it is deleted by hand. */
  ttlMs: number | null;
  /** The current action, or how the task ended. */
  message: string;
}

/** An entry of tasks/list: the status without a result. */
export interface ListedTask extends TaskHead {
  status: TaskState["status"];
  /** The tool returned an error: such a task is "failed" in 2025-11-25 and "completed" in the extension. */
  toolFailed: boolean;
}

export type TaskState = TaskHead &
  (
    | { status: "working" }
    | { status: "input_required"; inputRequests: InputRequests }
    | { status: "completed"; result: CallToolResult }
    /** A protocol error; a tool that returned an error has completed. */
    | { status: "failed"; error: { code: number; message: string; data?: unknown } }
    | { status: "cancelled"; result: CallToolResult }
  );

interface TaskPage {
  tasks: ListedTask[];
  nextCursor: string | undefined;
}

/** To any caller but its owner, a task does not exist. */
export interface TaskSource {
  find(reader: Reader, taskId: string): Promise<TaskState | undefined>;
  /** Requests the end of a running task; its state shows how it ends. */
  cancel(caller: Caller, taskId: string): Promise<void>;
  /** Passes on the user's responses; those that the task did not ask for are ignored. */
  update(owner: string, taskId: string, responses: Record<string, unknown>): Promise<void>;
  /** Throws an AppError for a cursor that this server did not issue. */
  list(owner: string, cursor: string | undefined): Promise<TaskPage>;
}

export const isTerminal = (status: TaskState["status"]): boolean => status !== "working" && status !== "input_required";

export async function requireTask(tasks: TaskSource, reader: Reader, taskId: string): Promise<TaskState> {
  const task = await tasks.find(reader, taskId);
  if (task === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no task with this taskId.");
  return task;
}
