/** The remote MCP servers that the user configured, by name. */

import { headersOf, type McpServerEntry } from "../config/mcp-servers.ts";
import { AppError } from "../errors.ts";
import type { RemoteMcpServer } from "../gemini/research-agent.ts";

interface Configured {
  settings: { GEMINI_SEARCH_MCP_SERVERS: Readonly<Record<string, McpServerEntry>> };
  environment: Readonly<Record<string, string | undefined>>;
}

/** Reads the secrets of a server from the environment each time, so that they are stored nowhere. */
export function configuredServer({ settings, environment }: Configured, name: string): RemoteMcpServer {
  const servers = settings.GEMINI_SEARCH_MCP_SERVERS;
  const entry = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (entry === undefined) {
    const names = Object.keys(servers);
    throw new AppError({
      code: "INVALID_INPUT",
      message: "An MCP server was named that is not in the configuration. Nothing was sent.",
      suggestion: `GEMINI_SEARCH_MCP_SERVERS configures ${names.length === 0 ? "none" : names.join(", ")}.`,
      details: { field: "mcp_servers" },
    });
  }
  const filled = headersOf(entry, environment);
  if ("headers" in filled) return { name, url: entry.url, headers: filled.headers, allowedTools: entry.allowed_tools };
  throw new AppError({
    code: "INVALID_INPUT",
    message: `The MCP server ${name} needs the environment variable ${filled.missing}, which is not set.`,
    suggestion: "Set it for this server, then restart it.",
    details: { field: "mcp_servers" },
  });
}
