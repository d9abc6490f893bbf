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
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Outcome, perform, performDetachable } from "../operations/perform.ts";
import announced from "./announced-tools.json" with { type: "json" };
import { clientOf } from "./client.ts";
import { confirm } from "./confirm.ts";
import { legacyTaskHandle, withoutTask } from "./tasks/legacy-tasks.ts";
import { boundedToolResult } from "./message-size.ts";
import type { MoreTools } from "./more-tools.ts";
import { observedCall } from "./tool-telemetry.ts";
import { audible } from "./progress.ts";
import { knownTask, type TaskSource } from "./tasks/task-source.ts";
import { declaresTasks, taskHandle } from "./tasks/tasks.ts";
import type { Visit } from "./visit.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a script from the very type
const TOOLS = announced.tools as Tool[];
const TASKS: readonly string[] = announced.tasks;
/** Such a client asks for a task with the call, where it is told that it may. */
const LEGACY_TOOLS = TOOLS.map((tool) =>
  TASKS.includes(tool.name) ? { ...tool, execution: { taskSupport: "optional" as const } } : tool,
);

/** Loaded with the first call: whoever only asks for the list does not wait for it. */
async function operationNamed(name: string): Promise<Operation | undefined> {
  const { OPERATIONS } = await import("../operations/catalog.ts");
  return OPERATIONS.find((operation) => operation.name === name);
}

interface Served {
  app: App;
  visit: Visit;
  tasks: TaskSource;
  more: MoreTools | undefined;
}

export function serveTools(mcpServer: McpServer, { app, visit, tasks, more }: Served): void {
  const { server } = mcpServer;
  const ours = visit.era === "legacy" ? LEGACY_TOOLS : TOOLS;
  server.setRequestHandler("tools/list", () => ({ tools: [...ours, ...(more?.tools ?? [])] }));
  const answer = async (asked: Asked): Promise<CallToolResult | InputRequiredResult> => {
    const { params, context } = asked;
    const operation = await operationNamed(params.name);
    if (operation === undefined) return more?.call(params, context) ?? noSuchTool(params.name);
    return callOperation(operation, asked, { app, visit, tasks });
  };
  // As one piece of work: a process that leaves waits for all of it, and begins nothing in between.
  server.setRequestHandler("tools/call", ({ params }, context) =>
    app.shutdown.during(
      observedCall({ tool: ownName(params.name), meta: params._meta }, () => answer({ params, context, mcpServer })),
    ),
  );
}

const ownName = (name: string): string => (TOOLS.some((tool) => tool.name === name) ? name : "other");

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
  const cameIn = deps.clock.monotonic();
  const call: Call = { ...who, signal, progress, estimates: new Map() };
  try {
    const confirmation = await confirm({ server, context, deps, era, operation, input, call });
    if (confirmation.kind === "ask") return confirmation.result;
    if (confirmation.kind === "refused") return toolResult(confirmation.outcome);
    if (!wantsTask(operation, visit, asked)) {
      const since = confirmation.asked ? undefined : cameIn;
      const outcome = await perform(operation, deps, {
        input,
        call: { ...call, agreed: confirmation.asked, since },
      });
      return picturedResult(deps, outcome);
    }
    // A 2025-11-25 client that asked for a task accepts nothing else; a modern one prefers the answer itself.
    const answerWithinMs = era === "legacy" ? 0 : deps.settings.taskAfterMs;
    const detachable = { input, call: { ...call, agreed: confirmation.asked }, answerWithinMs };
    const answer = await performDetachable(operation, deps, detachable);
    if ("taskId" in answer) return handles[era](await knownTask(tasks, caller.owner, answer.taskId));
    if (era === "legacy" && answer.outcome.failed) throw withoutTask(answer.outcome);
    return await picturedResult(deps, answer.outcome);
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

/** The answer with its pictures, where it has any. */
export async function picturedResult(deps: OperationDeps, outcome: Outcome): Promise<CallToolResult> {
  const result = toolResult(outcome);
  if (outcome.failed) return result;
  const { pictureContent } = await import("./tool-pictures.ts");
  return boundedToolResult({
    ...result,
    content: [...result.content, ...(await pictureContent(deps, outcome.pictures))],
  });
}

const toolResult = ({ text, structured, failed }: Outcome): CallToolResult =>
  boundedToolResult({ content: [{ type: "text", text }], structuredContent: structured, isError: failed });
