/** Name and capabilities of the MCP client that sent a request. */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
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
