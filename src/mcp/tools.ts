/** Operations as MCP tools: listed once, called through the one boundary, kept audible while they last. */

import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { OPERATIONS } from "../operations/catalog.ts";
import type { Call, Operation } from "../operations/operation.ts";
import { type Outcome, perform, performAsTask } from "../operations/perform.ts";
import { announced } from "./announce.ts";
import { clientOf } from "./client.ts";
import { confirm } from "./confirm.ts";
import { legacyTaskHandle, withoutTask } from "./legacy-tasks.ts";
import type { MoreTools } from "./more-tools.ts";
import { audible } from "./progress.ts";
import { knownTask, type TaskSource } from "./task-source.ts";
import { declaresTasks, taskHandle } from "./tasks.ts";
import type { Visit } from "./visit.ts";

const BY_NAME = new Map(OPERATIONS.map((operation) => [operation.name, operation]));

/** Made at the first question and kept: over HTTP a server is built for every request. */
let tools: Tool[] | undefined;

interface Served {
  app: App;
  visit: Visit;
  tasks: TaskSource;
  more: MoreTools | undefined;
}

export function serveTools(mcpServer: McpServer, { app, visit, tasks, more }: Served): void {
  const { server } = mcpServer;
  server.setRequestHandler("tools/list", () => {
    tools ??= OPERATIONS.map(announced);
    const ours = visit.era === "legacy" ? tools.map(withTaskSupport) : tools;
    return { tools: [...ours, ...(more?.tools ?? [])] };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const operation = BY_NAME.get(params.name);
    const answer =
      operation === undefined
        ? (more?.call(params, context) ?? noSuchTool(params.name))
        : callOperation(operation, { params, context, mcpServer }, { app, visit, tasks });
    // As one piece of work: a process that leaves waits for all of it, and begins nothing in between.
    return app.shutdown.during(Promise.resolve(answer));
  });
}

function noSuchTool(name: string): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}.`);
}

async function callOperation(
  operation: Operation,
  asked: Asked,
  { app, visit, tasks }: Omit<Served, "more">,
): Promise<CallToolResult | InputRequiredResult> {
  const { params, context, mcpServer } = asked;
  const { server } = mcpServer;
  const { caller, era } = visit;
  const { deps } = app;
  const input = params.arguments;
  const who = { ...caller, client: clientOf(server, context).name };
  const { progress, stop } = audible(context, { makesRun: operation.task !== undefined });
  const signal = AbortSignal.any([context.mcpReq.signal, app.shutdown.signal]);
  const cameIn = deps.clock.now();
  const call: Call = { ...who, signal, progress };
  try {
    const confirmation = await confirm({ server, context, deps, era, operation, input, call });
    if (confirmation.kind === "ask") return confirmation.result;
    if (confirmation.kind === "refused") return toolResult(confirmation.outcome);
    if (!wantsTask(operation, visit, asked)) {
      const since = confirmation.asked ? undefined : cameIn;
      return toolResult(await perform(operation, deps, input, { ...call, since }));
    }
    const begun = await performAsTask(operation, deps, input, who);
    if ("taskId" in begun) return handles[era](await knownTask(tasks, caller.owner, begun.taskId));
    if (era === "legacy" && begun.outcome.failed) throw withoutTask(begun.outcome);
    return toolResult(begun.outcome);
  } finally {
    stop();
  }
}

const handles = { modern: taskHandle, legacy: legacyTaskHandle };

interface Asked {
  params: CallToolRequest["params"];
  context: ServerContext;
  mcpServer: McpServer;
}

/** A modern client says that it can take a task and leaves the choice to us; an older one asks for one with the call. */
function wantsTask({ name, task }: Operation, { era }: Visit, { params, context, mcpServer }: Asked): boolean {
  if (era === "modern") return task !== undefined && declaresTasks(mcpServer, context);
  if (!("task" in params) || params["task"] === undefined) return false;
  if (task === undefined) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${name} cannot be run as a task.`);
  return true;
}

export const toolResult = ({ text, structured, failed }: Outcome): CallToolResult => ({
  content: [{ type: "text", text }],
  structuredContent: structured,
  isError: failed,
});

const withTaskSupport = (tool: Tool): Tool =>
  BY_NAME.get(tool.name)?.task === undefined ? tool : { ...tool, execution: { taskSupport: "optional" } };
