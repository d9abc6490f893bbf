/** Tools that are no operations, for a build that has some: listed and called beside ours. */

import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import type { TaskSource } from "./tasks/task-source.ts";

export interface MoreTools {
  tools: readonly Tool[];
  /** Undefined where there is no such tool. */
  call: (
    params: CallToolRequest["params"],
    context: ServerContext,
  ) => Promise<CallToolResult | InputRequiredResult> | undefined;
  /** Their tasks beside the runs. */
  withTasks: (runs: TaskSource) => TaskSource;
}
