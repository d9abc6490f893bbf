/** A minimal HTTP server on the same SDK: one tool without work, no token, no sessions. */

import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const INPUT = z.object({ text: z.string() });

function buildServer(): McpServer {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it again.", inputSchema: INPUT }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}

const handler = createMcpHandler(buildServer);
const server = createServer(getRequestListener((request) => handler.fetch(request)));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  console.error(`Listening on http://127.0.0.1:${port}/mcp`);
});
