/** Operations as MCP tools, with progress notifications and, for clients that support them, tasks. */

import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Outcome, perform, performDetachable } from "../operations/perform.ts";
import announced from "./announced-tools.json" with { type: "json" };
import { answerLimitOf, clientOf } from "./client.ts";
import { confirm } from "./confirm.ts";
import { cardTools, findCardOperation, isCancelOfCard, isCardTool, showsCards } from "./run-card.ts";
import { legacyTaskHandle, failedBeforeTask } from "./tasks/legacy-tasks.ts";
import { boundedToolResult } from "./message-size.ts";
import { withToolTelemetry } from "./tool-telemetry.ts";
import { createProgressReporter } from "./progress.ts";
import { findProfileOperation, withProfile } from "./profile-tools.ts";
import { requireTask, type TaskSource } from "./tasks/task-source.ts";
import { declaresTasks, taskHandle } from "./tasks/tasks.ts";
import type { ToolName } from "../config/tool-sets.ts";
import type { Connection } from "./connection.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a script from the very type
const TOOLS = announced.tools as Tool[];
const TASKS: readonly string[] = announced.tasks;
/** An older client requests a task with the call, if the tool's entry in the list allows it. */
const LEGACY_TOOLS = TOOLS.map((tool) =>
  TASKS.includes(tool.name) ? { ...tool, execution: { taskSupport: "optional" as const } } : tool,
);

/** Over HTTP a path would be one of the server. */
const LOCAL_PARAMETERS = ["files"];

/** A plan that no offered tool can approve would be paid for in vain, and only a follow-up makes a table. */
const NEEDED_TOOLS: Readonly<Record<string, ToolName>> = {
  plan: "resume_research",
  as: "ask_followup",
  columns: "ask_followup",
};

function withParameters(tool: Tool, isOffered: (name: string) => boolean): Tool {
  const { properties = {} } = tool.inputSchema;
  const offered = Object.entries(properties).filter(([name]) => isOffered(name));
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(offered) } };
}

/** The catalogue is loaded with the first call: tools/list does not need it. */
async function findOperation(
  params: ToolCall["params"],
  { tools, profile }: Connection,
  isCard: boolean,
): Promise<Operation> {
  const { name } = params;
  const special = (await findProfileOperation(name, profile)) ?? (await findCardOperation(name, tools));
  if (special !== undefined) return special;
  const { OPERATIONS } = await import("../operations/catalog.ts");
  const operation = OPERATIONS.find((candidate) => candidate.name === name);
  if (operation === undefined) throw invalidName(`There is no tool ${JSON.stringify(name)}.`);
  if (tools.listed.some((listed) => listed === name) || (isCard && isCancelOfCard(params, tools))) return operation;
  throw invalidName(
    `The tool ${name} is not among the tools offered here (${tools.name}). GEMINI_SEARCH_TOOLS=all offers it, or ?tools=all in the address of an HTTP server.`,
  );
}

const invalidName = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

interface ToolsOptions {
  app: App;
  connection: Connection;
  tasks: TaskSource;
}

export function serveTools(mcpServer: McpServer, options: ToolsOptions): void {
  const { app, connection } = options;
  const { server } = mcpServer;
  const isListed = ({ name }: Tool): boolean => connection.tools.listed.some((listed) => listed === name);
  const listed = (connection.protocolEra === "legacy" ? LEGACY_TOOLS : TOOLS).filter(isListed);
  const isOffered = (name: string): boolean => {
    const needed = NEEDED_TOOLS[name];
    if (needed !== undefined && !connection.tools.listed.includes(needed)) return false;
    return connection.caller.from !== "network" || !LOCAL_PARAMETERS.includes(name);
  };
  const offered = listed.map((tool) => withParameters(tool, isOffered));
  const tools = withProfile(offered, connection.profile);
  const withCards = [...tools, ...cardTools(TOOLS, connection.tools)];
  server.setRequestHandler("tools/list", (_request, context) => ({
    tools: showsCards(server, context) ? withCards : tools,
  }));
  const answer = async (toolCall: ToolCall): Promise<CallToolResult | InputRequiredResult> => {
    const isCard = showsCards(server, toolCall.context);
    return callOperation(await findOperation(toolCall.params, connection, isCard), toolCall, options);
  };
  // Registered as one unit of work: a shutdown waits for the whole call, not for one of its steps.
  server.setRequestHandler("tools/call", ({ params }, context) =>
    app.shutdown.during(
      withToolTelemetry({ tool: metricLabel(params.name), meta: params._meta }, () =>
        answer({ params, context, mcpServer }),
      ),
    ),
  );
}

const metricLabel = (name: string): string =>
  TOOLS.some((tool) => tool.name === name) || isCardTool(name) ? name : "other";

async function callOperation(
  operation: Operation,
  toolCall: ToolCall,
  { app, connection, tasks }: ToolsOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const { params, context, mcpServer } = toolCall;
  const { server } = mcpServer;
  const { caller, protocolEra } = connection;
  const { deps } = app;
  const given = params.arguments;
  const { progress, stop } = createProgressReporter(context);
  const signal = AbortSignal.any([context.mcpReq.signal, app.shutdown.signal]);
  const receivedAt = deps.clock.monotonic();
  const client = clientOf(server, context).name;
  const isCancelled = (): boolean => hasCancelled(context, protocolEra);
  const own = { answerLimit: answerLimitOf(server, context), estimates: new Map(), attempts: new Map() };
  const call: Call = { ...caller, client, signal, isCancelled, progress, ...own };
  try {
    const { GEMINI_API_KEY: apiKey, GEMINI_SEARCH_DATABASE_URL: databaseUrl } = app.config.settings;
    const sealSecrets = { apiKey, databaseUrl };
    const asked = { server, context, deps, sealSecrets, protocolEra, operation, input: given, call };
    const confirmation = await confirm(asked);
    if (confirmation.kind === "ask") return confirmation.result;
    if (confirmation.kind === "refused") return toolResult(confirmation.outcome);
    const { agreed, newTaskId, input, waitedForUser } = confirmation;
    const confirmed = { ...call, agreed, newTaskId };
    if (!wantsTask(operation, connection, toolCall)) {
      const since = waitedForUser === true ? undefined : receivedAt;
      return resultWithPictures(deps, await perform(operation, deps, { input, call: { ...confirmed, since } }));
    }
    // A 2025-11-25 client that requested a task accepts nothing else; a modern one prefers the answer itself.
    const answerWithinMs = protocolEra === "legacy" ? 0 : deps.settings.syncWindowMs;
    const answer = await performDetachable(operation, deps, { input, call: confirmed, answerWithinMs });
    if ("taskId" in answer) return handles[protocolEra](await requireTask(tasks, call, answer.taskId));
    if (protocolEra === "legacy" && answer.outcome.failed) throw failedBeforeTask(answer.outcome);
    return await resultWithPictures(deps, answer.outcome);
  } finally {
    stop();
  }
}

/**
 * Of a call that was aborted: whether its client cancelled it. A connection that closes is no cancel, except that over
 * HTTP a modern client cancels by closing the response stream, and has no other way.
 */
function hasCancelled({ mcpReq: { signal }, http }: ServerContext, protocolEra: Connection["protocolEra"]): boolean {
  const reason: unknown = signal.reason;
  const isDisconnected = reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
  return signal.aborted && (!isDisconnected || (protocolEra === "modern" && http !== undefined));
}

const handles = { modern: taskHandle, legacy: legacyTaskHandle };

interface ToolCall {
  params: CallToolRequest["params"];
  context: ServerContext;
  mcpServer: McpServer;
}

/** A modern client declares that it accepts tasks and leaves the choice to us; an older one requests one with the call. */
function wantsTask(
  { name, task }: Operation,
  { protocolEra }: Connection,
  { params, context, mcpServer }: ToolCall,
): boolean {
  if (protocolEra === "modern") return task !== undefined && declaresTasks(mcpServer, context);
  if (!("task" in params) || params["task"] === undefined) return false;
  if (task === undefined) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${name} cannot be run as a task.`);
  return true;
}

/** The answer with its pictures, if it has any. */
export async function resultWithPictures(deps: OperationDeps, outcome: Outcome): Promise<CallToolResult> {
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
