/** Operations as MCP tools. One factory serves every transport and both protocol eras. */

import { McpServer } from "@modelcontextprotocol/server";
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { OPERATIONS } from "../operations/catalog.ts";
import type { Operation } from "../operations/operation.ts";
import { perform } from "../operations/perform.ts";
import { INSTRUCTIONS } from "./instructions.ts";

/** Built once: a server is made per connection, schemas are costly to make. */
const TOOLS = OPERATIONS.map((operation) => ({ operation, inputSchema: unchecked(operation.input) }));

/** Announces the schema but lets every input through, so that bad input gets our own error shape. */
function unchecked(schema: Operation["input"]): StandardSchemaWithJSON<unknown, unknown> {
  const standard = schema["~standard"];
  return {
    "~standard": {
      version: standard.version,
      vendor: standard.vendor,
      jsonSchema: standard.jsonSchema,
      validate: (value: unknown) => ({ value }),
    },
  };
}

export function buildServer(app: App): McpServer {
  const server = new McpServer({ name: app.name, version: app.version }, { instructions: INSTRUCTIONS });
  for (const { operation, inputSchema } of TOOLS) {
    const { name, title, description, output, annotations } = operation;
    server.registerTool(
      name,
      { title, description, inputSchema, outputSchema: output, annotations },
      async (input: unknown, context) => {
        const call = {
          owner: "local",
          client: server.server.getClientVersion()?.name,
          signal: AbortSignal.any([context.mcpReq.signal, app.shutdown.signal]),
          progress: progressSender(context),
        };
        const outcome = await app.shutdown.during(perform(operation, app.deps, input, call));
        return {
          content: [{ type: "text" as const, text: outcome.text }],
          structuredContent: outcome.structured,
          isError: outcome.failed,
        };
      },
    );
  }
  return server;
}

type ToolContext = Parameters<Parameters<McpServer["registerTool"]>[2]>[1];

/** Only who sent a token wants progress; its value may only grow. */
function progressSender(context: ToolContext): (message: string) => void {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that went away must not end the research.
    context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
