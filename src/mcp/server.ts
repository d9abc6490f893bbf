/** Builds the MCP server for one connection, whatever its transport and protocol era. */

import { McpServer } from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { conformanceFixtures } from "./conformance.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { servePrompts, serveResources } from "./resources/resources.ts";
import { serveSubscriptions } from "./resources/subscriptions.ts";
import type { TaskSource } from "./tasks/task-source.ts";
import { serveTasks, taskCapabilities } from "./tasks/tasks.ts";
import { serveTools } from "./tools.ts";
import type { Connection } from "./connection.ts";

/** Tools and prompts never change while a server runs. */
const CAPABILITIES = {
  tools: { listChanged: false },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: false },
  completions: {},
};

export function buildServer(app: App, connection: Connection): McpServer {
  const fixtures = conformanceFixtures();
  const server = new McpServer(
    { name: app.name, version: app.version },
    {
      instructions: INSTRUCTIONS,
      capabilities: { ...CAPABILITIES, ...taskCapabilities(connection.protocolEra) },
      ...fixtures?.FIXTURE_OPTIONS,
    },
  );
  const more = fixtures?.serveFixtures(server, app, connection);
  const runs = runsAsTasks(app);
  const tasks = more?.withTasks(runs) ?? runs;
  serveTools(server, { app, connection, tasks, more });
  serveTasks(server, tasks, connection);
  const onListed = serveSubscriptions(server, app, connection);
  serveResources(server, { app, connection, onListed });
  servePrompts(server);
  return server;
}

/** The implementation is loaded with the first request about a task. */
function runsAsTasks(app: App): TaskSource {
  const load = async (): Promise<TaskSource> => (await import("./tasks/run-tasks.ts")).runTasks(app);
  return {
    find: async (owner, taskId) => (await load()).find(owner, taskId),
    cancel: async (caller, taskId) => (await load()).cancel(caller, taskId),
    update: async (owner, taskId, responses) => (await load()).update(owner, taskId, responses),
    list: async (owner, cursor) => (await load()).list(owner, cursor),
  };
}
