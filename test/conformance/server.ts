/** The product's MCP server, extended by the tools, tasks, resources and prompts that the official suite requires. */

import { type BuildServer, createServer, registerHandlers } from "../../src/mcp/server.ts";
import { runTasks } from "../../src/mcp/tasks/run-tasks.ts";
import { serveTasks } from "../../src/mcp/tasks/tasks.ts";
import { extendHandlers, type Extensions } from "./extend-handlers.ts";
import { withFixtureTasks } from "./fixture-tasks.ts";
import { registerHeaderSchema } from "./header-tool.ts";
import { completeFixturePrompt, FIXTURE_PROMPTS, getFixturePrompt } from "./prompts.ts";
import { canWatchFixture, FIXTURE_RESOURCES, FIXTURE_TEMPLATES, readFixture } from "./resources.ts";
import { SEAL } from "./state-tools.ts";
import { createCallFixture, FIXTURE_TOOLS } from "./tools.ts";

export const buildConformanceServer: BuildServer = (app, connection) => {
  const mcpServer = createServer(app, connection, { requestState: { verify: SEAL.verify } });
  mcpServer.server.registerCapabilities({ logging: {} });
  // Before the product's handlers, which replace those that the SDK registers with the tool.
  registerHeaderSchema(mcpServer);
  extendHandlers(mcpServer.server, {
    ...LISTS_AND_READS,
    "tools/call": createCallFixture(mcpServer, app, connection),
  });
  registerHandlers(mcpServer, app, connection);
  serveTasks(mcpServer, withFixtureTasks(runTasks(app)), connection);
  return mcpServer;
};

const LISTS_AND_READS: Extensions = {
  "tools/list": async (_request, next) => {
    const result = await next();
    return { ...result, tools: [...result.tools, ...FIXTURE_TOOLS] };
  },
  "resources/list": async (_request, next) => {
    const result = await next();
    return { ...result, resources: [...result.resources, ...FIXTURE_RESOURCES] };
  },
  "resources/templates/list": async (_request, next) => {
    const result = await next();
    return { ...result, resourceTemplates: [...result.resourceTemplates, ...FIXTURE_TEMPLATES] };
  },
  "prompts/list": async (_request, next) => {
    const result = await next();
    return { ...result, prompts: [...result.prompts, ...FIXTURE_PROMPTS] };
  },
  "resources/read": ({ params }, next) => readFixture(params.uri) ?? next(),
  "resources/subscribe": ({ params }, next) => (canWatchFixture(params.uri) ? {} : next()),
  "prompts/get": ({ params }, next, context) => getFixturePrompt(params, context) ?? next(),
  "completion/complete": ({ params: { ref, argument } }, next) =>
    (ref.type === "ref/prompt" ? completeFixturePrompt(ref.name, argument.value) : undefined) ?? next(),
};
