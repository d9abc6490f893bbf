/** A fixture whose argument is also sent as an HTTP header, which the server compares with the body. */

import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { type Fixture, textResult } from "./fixture.ts";

const TOOL = {
  name: "test_header_argument",
  description: "Repeats an argument that a header repeats too.",
  inputSchema: {
    type: "object" as const,
    properties: { region: { type: "string" as const, "x-mcp-header": "Region" } },
    required: ["region"],
  },
};

export const HEADER_TOOL: Fixture = {
  tool: TOOL,
  run: ({ input }) => textResult(`Region: ${String(input["region"])}`),
};

const SCHEMA = fromJsonSchema(TOOL.inputSchema);

/** The SDK checks the headers of tools that are registered with it; the product lists and calls its own without it. */
export function registerHeaderSchema(server: McpServer): void {
  server.registerTool(TOOL.name, { description: TOOL.description, inputSchema: SCHEMA }, () => textResult(""));
}
