/** What a task is to the protocol, and whoever keeps tasks: the two generations of the wire speak of nothing else. */

import {
  type CallToolResult,
  type InputRequests,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../caller.ts";

interface TaskHead {
  taskId: string;
  createdAt: number;
  updatedAt: number;
  /** How long a client should wait before it asks again. */
  pollMs: number;
  /** How long after its creation it is kept at least; null: until it is deleted by hand. */
  ttlMs: number | null;
  /** What is happening, or how it ended. */
  message: string;
}

/** Of a listed task only how it stands. */
export interface ListedTask extends TaskHead {
  status: TaskState["status"];
  /** Its tool ended with an error: the older generation calls such a task failed. */
  toolFailed: boolean;
}

export type TaskState = TaskHead &
  (
    | { status: "working" }
    | { status: "input_required"; inputRequests: InputRequests }
    | { status: "completed"; result: CallToolResult }
    /** Of the protocol: a tool that failed has completed with an error. */
    | { status: "failed"; error: { code: number; message: string; data?: unknown } }
    | { status: "cancelled"; result: CallToolResult }
  );

interface TaskPage {
  tasks: ListedTask[];
  nextCursor: string | undefined;
}

/** Somebody else's task is to its asker one that does not exist. */
export interface TaskSource {
  find(owner: string, taskId: string): Promise<TaskState | undefined>;
  /** Asks a task that has not ended to stop; how it ends shows in its state. */
  cancel(caller: Caller, taskId: string): Promise<void>;
  /** Answers to what a task asked; those that it did not ask for are ignored. */
  update(owner: string, taskId: string, responses: Record<string, unknown>): Promise<void>;
  /** Throws an AppError when the cursor is not one of ours. */
  list(owner: string, cursor: string | undefined): Promise<TaskPage>;
}

export const isTerminal = (status: TaskState["status"]): boolean => status !== "working" && status !== "input_required";

export async function knownTask(tasks: TaskSource, owner: string, taskId: string): Promise<TaskState> {
  const task = await tasks.find(owner, taskId);
  if (task === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no task with this taskId.");
  return task;
}
