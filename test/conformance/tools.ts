/** The tools of the official suite, called beside the product's own. */

import { type McpServer, MissingRequiredClientCapabilityError, ProtocolError } from "@modelcontextprotocol/server";
import type { App } from "../../src/app.ts";
import { clientOf, type Connection } from "../../src/mcp/client.ts";
import { createProgressReporter } from "../../src/mcp/progress.ts";
import { declaresTasks, taskCapabilities, taskHandle } from "../../src/mcp/tasks/tasks.ts";
import { ASKING_TOOLS } from "./asking-tools.ts";
import { CONTENT_TOOLS } from "./content-tools.ts";
import type { Extension } from "./extend-handlers.ts";
import { startFixtureTask } from "./fixture-tasks.ts";
import { failedWith, type Fixture, type FixtureAnswer, type FixtureCall } from "./fixture.ts";
import { HEADER_TOOL } from "./header-tool.ts";
import { STATE_TOOLS } from "./state-tools.ts";
import { TASK_TOOLS } from "./task-tools.ts";

const FIXTURES: Fixture[] = [...CONTENT_TOOLS, ...ASKING_TOOLS, ...STATE_TOOLS, ...TASK_TOOLS, HEADER_TOOL];
const BY_NAME = new Map(FIXTURES.map((fixture) => [fixture.tool.name, fixture]));

export const FIXTURE_TOOLS = FIXTURES.map(({ tool }) => tool);

export const createCallFixture =
  (mcpServer: McpServer, app: App, { caller, protocolEra }: Connection): Extension<"tools/call"> =>
  ({ params: { name, arguments: input = {} } }, next, context) => {
    const fixture = BY_NAME.get(name);
    if (fixture === undefined) return next();
    const { progress, stop } = createProgressReporter(context);
    const { capabilities } = clientOf(mcpServer.server, context);
    const signal = AbortSignal.any([context.mcpReq.signal, app.shutdown.signal]);
    const call = { input, answers: context.mcpReq.inputResponses, capabilities, signal, progress, context };
    const isTask = protocolEra === "modern" && declaresTasks(mcpServer, context) && fixture.task !== undefined;
    const answer = isTask ? callAsTask(fixture, call, caller.owner) : callAndWait(fixture, call);
    return app.shutdown.during(answer).finally(stop);
  };

async function callAsTask(fixture: Fixture, call: FixtureCall, owner: string): Promise<FixtureAnswer> {
  return fixture.before?.(call) ?? taskHandle(startFixtureTask(fixture, call, owner));
}

async function callAndWait(fixture: Fixture, call: FixtureCall): Promise<FixtureAnswer> {
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
