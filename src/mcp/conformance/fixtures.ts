/** The official suite's fixtures, put into the server that is shipped: its doors, its transports, its handlers. */

import {
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { clientOf } from "../client.ts";
import type { MoreTools } from "../more-tools.ts";
import { createProgressReporter } from "../progress.ts";
import { declaresTasks, taskCapabilities, taskHandle } from "../tasks/tasks.ts";
import type { Connection } from "../connection.ts";
import { ASKING_TOOLS } from "./asking-tools.ts";
import { CONTENT_TOOLS } from "./content-tools.ts";
import { startFixtureTask, withFixtureTasks } from "./fixture-tasks.ts";
import { failedWith, type Fixture, type FixtureAnswer, type FixtureCall } from "./fixture.ts";
import { HEADER_TOOL, registerHeaderSchema } from "./header-tool.ts";
import { SEAL, STATE_TOOLS } from "./state-tools.ts";
import { TASK_TOOLS } from "./task-tools.ts";

const FIXTURES: Fixture[] = [...CONTENT_TOOLS, ...ASKING_TOOLS, ...STATE_TOOLS, ...TASK_TOOLS, HEADER_TOOL];
const BY_NAME = new Map(FIXTURES.map((fixture) => [fixture.tool.name, fixture]));

/** What a server must be made with. */
export const FIXTURE_OPTIONS = { requestState: { verify: SEAL.verify } } satisfies ServerOptions;

export function serveFixtures(mcpServer: McpServer, app: App, connection: Connection): MoreTools {
  mcpServer.server.registerCapabilities({ logging: {} });
  registerHeaderSchema(mcpServer);
  return {
    tools: FIXTURES.map(({ tool }) => tool),
    call: ({ name, arguments: input = {} }, context) => {
      const fixture = BY_NAME.get(name);
      if (fixture === undefined) return undefined;
      const { progress, stop } = createProgressReporter(context);
      const { capabilities } = clientOf(mcpServer.server, context);
      const signal = AbortSignal.any([context.mcpReq.signal, app.shutdown.signal]);
      const answers = context.mcpReq.inputResponses;
      const call = { input, answers, capabilities, signal, progress, context };
      const asTask = connection.protocolEra === "modern" && declaresTasks(mcpServer, context);
      const answer = asTask ? begun(fixture, call, connection.caller.owner) : waitedFor(fixture, call);
      return app.shutdown.during(answer).finally(stop);
    },
    withTasks: withFixtureTasks,
  };
}

async function begun(fixture: Fixture, call: FixtureCall, owner: string): Promise<FixtureAnswer> {
  if (fixture.task === undefined) return waitedFor(fixture, call);
  return fixture.before?.(call) ?? taskHandle(startFixtureTask(fixture, call, owner));
}

async function waitedFor(fixture: Fixture, call: FixtureCall): Promise<FixtureAnswer> {
  if (fixture.task === "required") {
    const { extensions } = taskCapabilities("modern");
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions } });
  }
  try {
    return fixture.before?.(call) ?? (await fixture.run(call));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return failedWith(error);
  }
}
