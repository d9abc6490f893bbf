/** A minimal stdio server on the same SDK: one tool without work. The baseline for start-up. */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const INPUT = z.object({ text: z.string() });

function buildServer(): McpServer {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it again.", inputSchema: INPUT }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}

process.stdin.on("end", () => process.exit(0));
serveStdio(buildServer);
