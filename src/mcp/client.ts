/**
 * The client of an MCP server instance: what the instance is built for, the name and capabilities that a request names, and
 * how long an answer the client accepts.
 */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Caller } from "../caller.ts";
import type { Profile, ToolSet } from "../config/tool-sets.ts";
import type { AnswerLimit } from "../operations/operation.ts";
import { isRecord } from "../platform/is-record.ts";

interface McpClient {
  name: string | undefined;
  capabilities: ClientCapabilities;
}

/** A modern client sends both with every request, an older one once, in `initialize`. */
export function clientOf(server: Server, { mcpReq }: ServerContext): McpClient {
  const envelope: Record<string, unknown> = mcpReq.envelope ?? {};
  const { [CLIENT_INFO_META_KEY]: info, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = envelope;
  const name = isRecord(info) && typeof info["name"] === "string" ? info["name"] : server.getClientVersion()?.name;
  return { name, capabilities: isRecord(capabilities) ? capabilities : (server.getClientCapabilities() ?? {}) };
}

const jsonBytes: AnswerLimit["sizeOf"] = ({ structured }) => Buffer.byteLength(JSON.stringify(structured));

/**
 * Where clients cut an answer before their model reads it, a little below what was measured
 * (docs/engineering/clients.md).
 */
const LIMITS: Readonly<Record<string, AnswerLimit>> = {
  "claude-code": { max: 100_000, sizeOf: jsonBytes },
  "codex-mcp-client": { max: 48_000, sizeOf: jsonBytes },
  "gemini-cli-mcp-client": { max: 40_000, sizeOf: ({ text }) => text.length },
  opencode: { max: 51_000, sizeOf: ({ text }) => Buffer.byteLength(text) },
};

/** Undefined for a client whose limit is not known. */
export function answerLimitOf(server: Server, context: ServerContext): AnswerLimit | undefined {
  const { name = "" } = clientOf(server, context);
  return Object.hasOwn(LIMITS, name) ? LIMITS[name] : undefined;
}

/** What one MCP server instance is built for: a stdio connection, an HTTP session or a single HTTP request. */
export interface Connection {
  caller: Caller;
  /** "modern" from protocol revision 2026-07-28 on. */
  protocolEra: "legacy" | "modern";
  /** The tools that this client is offered. */
  tools: ToolSet;
  /** Tools in the shape of one client, in place of those with the same name. */
  profile?: Profile | undefined;
  /** Over HTTP: a server over stdio ends with its client. */
  offersEvents?: boolean | undefined;
}
