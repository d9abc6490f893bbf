/**
 * A minimal HTTP server on the same SDK: one tool without work, no sessions. It checks tokens as ours does, against the
 * database in its config directory.
 */

import { createServer } from "node:http";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { createAuthenticate, createCredentials } from "../src/http/auth/authenticate.ts";
import { systemClock } from "../src/platform/clock.ts";
import { createLog } from "../src/platform/log.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";

const INPUT = z.object({ text: z.string() });

function buildServer(): McpServer {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it again.", inputSchema: INPUT }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}

const { GEMINI_SEARCH_CONFIG_DIR: configDir = "", MCP_AUTH_TOKEN } = process.env;
const log = createLog({ from: "ERROR", format: "text", redact: (text) => text });
const { db } = await openSqlite(join(configDir, "deep_research.db"), log);
const settings = { MCP_AUTH_TOKEN, MCP_OAUTH_ISSUER: undefined, MCP_PUBLIC_URL: undefined };
const credentials = await createCredentials(
  {
    config: { configDir, configDirWritable: true, settings },
    log,
    deps: { database: async () => db, clock: systemClock },
  },
  { noAuth: false },
);
const authenticate = createAuthenticate(credentials);
const handler = createMcpHandler(buildServer);

const server = createServer(
  getRequestListener(async (request) => {
    const admitted = await authenticate(request, { address: "127.0.0.1" });
    return admitted instanceof Response ? admitted : handler.fetch(request);
  }),
);
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  console.error(`Listening on http://127.0.0.1:${port}/mcp`);
});
