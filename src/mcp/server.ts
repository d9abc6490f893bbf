/** Builds the MCP server for one connection, whatever its transport and protocol era. */

import { McpServer, type ServerOptions } from "@modelcontextprotocol/server";
import type { App } from "../app.ts";
import { instructionsFor } from "./instructions.ts";
import { servePrompts, serveResources } from "./resources/resources.ts";
import { serveSubscriptions } from "./resources/subscriptions.ts";
import type { TaskSource } from "./tasks/task-source.ts";
import { serveTasks, taskCapabilities } from "./tasks/tasks.ts";
import { serveTools } from "./tools.ts";
import type { Connection } from "./client.ts";

/** Tools and prompts never change while a server runs. */
const CAPABILITIES = {
  tools: { listChanged: false },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: false },
  completions: {},
};

export type BuildServer = (app: App, connection: Connection) => McpServer;

export const buildServer: BuildServer = (app, connection) => {
  const server = createServer(app, connection);
  registerHandlers(server, app, connection);
  return server;
};

/** A server without handlers. */
export const createServer = (app: App, { protocolEra, tools }: Connection, options: ServerOptions = {}): McpServer =>
  new McpServer(
    { name: app.name, version: app.version },
    {
      instructions: instructionsFor(tools),
      capabilities: { ...CAPABILITIES, ...taskCapabilities(protocolEra) },
      ...options,
    },
  );

export function registerHandlers(server: McpServer, app: App, connection: Connection): void {
  const tasks = lazyRunTasks(app);
  serveTools(server, { app, connection, tasks });
  serveTasks(server, tasks, connection);
  const onListed = serveSubscriptions(server, app, connection);
  serveResources(server, { app, connection, onListed });
  servePrompts(server, connection);
}

/** Loads the implementation with the first request about a task. */
function lazyRunTasks(app: App): TaskSource {
  const load = async (): Promise<TaskSource> => (await import("./tasks/run-tasks.ts")).runTasks(app);
  return {
    find: async (reader, taskId) => (await load()).find(reader, taskId),
    cancel: async (caller, taskId) => (await load()).cancel(caller, taskId),
    update: async (owner, taskId, responses) => (await load()).update(owner, taskId, responses),
    list: async (owner, cursor) => (await load()).list(owner, cursor),
  };
}
