/**
 * A call of an MCP tool: the user is asked where the operation requires it, progress notifications keep the call alive, and
 * clients that support tasks get one for an answer that takes long.
 */

import {
  type CallToolRequest,
  type CallToolResult,
  type ContentBlock,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { OPERATOR_ONLY } from "../config/tool-sets.ts";
import { OPERATIONS } from "../operations/catalog.ts";
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Outcome, perform, performDetachable, type Success } from "../operations/perform.ts";
import { answerLimitOf, clientOf, type Connection } from "./client.ts";
import { confirm } from "./confirm.ts";
import { boundedToolResult } from "./message-size.ts";
import { findProfileOperation } from "./profile-tools.ts";
import { createProgressReporter } from "./progress.ts";
import { findCardOperation, isCancelOfCard, showsCards } from "./run-card.ts";
import { failedBeforeTask, legacyTaskHandle } from "./tasks/legacy-tasks.ts";
import { requireTask, type TaskSource } from "./tasks/task-source.ts";
import { declaresTasks, taskHandle } from "./tasks/tasks.ts";

export interface ToolsOptions {
  app: App;
  connection: Connection;
  tasks: TaskSource;
}

export async function callTool(
  toolCall: ToolCall,
  options: ToolsOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const isCard = showsCards(toolCall.mcpServer.server, toolCall.context);
  return callOperation(await findOperation(toolCall.params, options.connection, isCard), toolCall, options);
}

async function findOperation(
  params: ToolCall["params"],
  { tools, profile }: Connection,
  isCard: boolean,
): Promise<Operation> {
  const { name } = params;
  const special = (await findProfileOperation(name, profile)) ?? (await findCardOperation(name, tools));
  if (special !== undefined) return special;
  const operation = OPERATIONS.find((candidate) => candidate.name === name);
  if (operation === undefined) throw invalidName(`There is no tool ${JSON.stringify(name)}.`);
  if (tools.listed.some((listed) => listed === name) || (isCard && isCancelOfCard(params, tools))) return operation;
  const chosen = name === OPERATOR_ONLY ? "" : ", or ?tools=all in the address of an HTTP server";
  throw invalidName(
    `The tool ${name} is not among the tools offered here (${tools.name}). GEMINI_SEARCH_TOOLS=all offers it${chosen}.`,
  );
}

const invalidName = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

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
  const own = { answerLimit: answerLimitOf(server, context), newestRuns: new Map() };
  const call: Call = { ...caller, client, signal, isCancelled, progress, ...own };
  try {
    const { GEMINI_API_KEY: apiKey, GEMINI_SEARCH_DATABASE_URL: databaseUrl } = app.config.settings;
    const sealSecrets = { apiKey, databaseUrl };
    const comparesReports = connection.tools.listed.includes("compare_reports");
    const asked = { server, context, deps, sealSecrets, protocolEra, operation, input: given, call, comparesReports };
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

export interface ToolCall {
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
  return boundedToolResult({
    ...result,
    content: [...result.content, ...(await pictureContent(deps, outcome.pictures))],
  });
}

const toolResult = ({ text, structured, failed }: Outcome): CallToolResult =>
  boundedToolResult({ content: [{ type: "text", text }], structuredContent: structured, isError: failed });

/** Base64 characters of all images of one answer, which so stays far below the size that clients accept. */
const MAX_IMAGE_CHARACTERS = 1_000_000;

/** Needs no check of the owner: the operation that answered has read the run as its owner. */
async function pictureContent(
  { database }: Pick<OperationDeps, "database">,
  pictures: Success<unknown>["pictures"],
): Promise<ContentBlock[]> {
  if (pictures === undefined || pictures.links.length === 0) return [];
  const { findPicture } = await import("../runs/file-store.ts");
  const db = await database();
  const content: ContentBlock[] = [];
  let left = MAX_IMAGE_CHARACTERS;
  for (const { n, uri, mime_type: mimeType, bytes } of pictures.links) {
    const characters = Math.ceil(bytes / 3) * 4;
    const picture = characters <= left ? await findPicture(db, pictures.taskId, n) : undefined;
    if (picture === undefined) {
      content.push({ type: "resource_link", uri, name: `picture ${n}`, mimeType, size: bytes });
    } else {
      left -= characters;
      content.push({ type: "image", data: Buffer.from(picture.content).toString("base64"), mimeType });
    }
  }
  return content;
}
