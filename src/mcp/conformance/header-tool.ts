/** A fixture whose argument also travels as an HTTP header, which the server compares with the body. */

import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { type Fixture, said } from "./fixture.ts";

const TOOL = {
  name: "test_header_argument",
  description: "Repeats an argument that a header repeats too.",
  inputSchema: {
    type: "object" as const,
    properties: { region: { type: "string" as const, "x-mcp-header": "Region" } },
    required: ["region"],
  },
};

export const HEADER_TOOL: Fixture = { tool: TOOL, run: ({ input }) => said(`Region: ${String(input["region"])}`) };

const SCHEMA = fromJsonSchema(TOOL.inputSchema);

/** The SDK compares headers by the schemas that were registered with it; ours are listed and called without it. */
export function registerHeaderSchema(server: McpServer): void {
  server.registerTool(TOOL.name, { description: TOOL.description, inputSchema: SCHEMA }, () => said(""));
}
