/** Operations as MCP tools: which of them a client is offered. A call is another file, loaded with the first one. */

import type { McpServer, Tool } from "@modelcontextprotocol/server";
import type { ToolName } from "../config/tool-sets.ts";
import type { Connection } from "./client.ts";
import { lazy } from "../platform/lazy.ts";
import announced from "./announced-tools.json" with { type: "json" };
import { withProfile } from "./profile-tools.ts";
import { cardTools, showsCards } from "./run-card.ts";
import type { ToolCall, ToolsOptions } from "./tool-call.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a script from the very type
const TOOLS = announced.tools as Tool[];
const TASKS: readonly string[] = announced.tasks;
/** An older client requests a task with the call, if the tool's entry in the list allows it. */
const LEGACY_TOOLS = TOOLS.map((tool) =>
  TASKS.includes(tool.name) ? { ...tool, execution: { taskSupport: "optional" as const } } : tool,
);

/** Over HTTP a path would be one of the server. */
const LOCAL_PARAMETERS = ["files"];

/** A plan that no offered tool can approve would be paid for in vain, and only a follow-up makes a table. */
const NEEDED_TOOLS: Readonly<Record<string, ToolName>> = {
  plan: "resume_research",
  as: "ask_followup",
  columns: "ask_followup",
};

const calls = lazy(() => import("./tool-call.ts"));

function withParameters(tool: Tool, isOffered: (name: string) => boolean): Tool {
  const { properties = {} } = tool.inputSchema;
  const offered = Object.entries(properties).filter(([name]) => isOffered(name));
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(offered) } };
}

/** The list for a client without cards. */
function toolsFor(connection: Connection): Tool[] {
  const isListed = ({ name }: Tool): boolean => connection.tools.listed.some((listed) => listed === name);
  const listed = (connection.protocolEra === "legacy" ? LEGACY_TOOLS : TOOLS).filter(isListed);
  const isOffered = (name: string): boolean => {
    const needed = NEEDED_TOOLS[name];
    if (needed !== undefined && !connection.tools.listed.includes(needed)) return false;
    return connection.caller.from !== "network" || !LOCAL_PARAMETERS.includes(name);
  };
  const offered = listed.map((tool) => withParameters(tool, isOffered));
  return withProfile(offered, connection.profile);
}

export function serveTools(mcpServer: McpServer, options: ToolsOptions): void {
  const { app, connection } = options;
  const { server } = mcpServer;
  // Made when it is asked for: over HTTP there is a server for each request, and most requests are calls.
  server.setRequestHandler("tools/list", (_request, context) => {
    const tools = toolsFor(connection);
    return { tools: showsCards(server, context) ? [...tools, ...cardTools(TOOLS, connection.tools)] : tools };
  });
  const call = async (toolCall: ToolCall) => (await calls()).callTool(toolCall, options);
  // Registered as one unit of work: a shutdown waits for the whole call, not for one of its steps.
  server.setRequestHandler("tools/call", ({ params }, context) =>
    app.shutdown.during(call({ params, context, mcpServer })),
  );
}
