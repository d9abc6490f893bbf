/** What MCP offers beside tools: runs as resources (the list, where each one stands, its report), and prompts. */

import { type McpServer, ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import { conformanceFixtures } from "../conformance.ts";
import type { Reading } from "./contents.ts";
import { ABOUT_PICTURE, ABOUT_REPORT, ABOUT_RUN, pictureUri, reportUri, RUNS_URI, runUri } from "./uris.ts";
import type { Connection } from "../connection.ts";

const TEMPLATES = [
  { ...ABOUT_RUN, name: "run", uriTemplate: runUri("{task_id}") },
  { ...ABOUT_REPORT, name: "report", uriTemplate: reportUri("{task_id}") },
  { ...ABOUT_PICTURE, name: "picture", uriTemplate: pictureUri("{task_id}", "{n}") },
];

/** A start is waited for, and few clients ask for more than the tools: what answers the rest is loaded when asked. */
const contents = () => import("./contents.ts");
const prompts = () => import("../prompts.ts");

/** `listed` is told when a client has seen the list, and so would want to know that it changed. */
export function serveResources({ server }: McpServer, app: App, { caller }: Connection, listed: () => void): void {
  const fixtures = conformanceFixtures();
  const reading = (uri: string, { mcpReq }: ServerContext): Reading => ({ caller, uri, signal: mcpReq.signal });
  server.setRequestHandler("resources/list", async (_request, context) => {
    const { listResources } = await contents();
    const resources = await listResources(app, reading(RUNS_URI, context));
    listed();
    return { resources: [...resources, ...(fixtures?.FIXTURE_RESOURCES ?? [])] };
  });
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...TEMPLATES, ...(fixtures?.FIXTURE_TEMPLATES ?? [])],
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const { readResource } = await contents();
    return fixtures?.readFixture(uri) ?? readResource(app, reading(uri, context));
  });
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }, context) => {
    if (ref.type === "ref/prompt") {
      const { completePrompt } = await prompts();
      const fixture = fixtures?.completeFixturePrompt(ref.name, argument.value);
      return fixture ?? completed(completePrompt(ref.name, argument.name, argument.value));
    }
    if (!TEMPLATES.some(({ uriTemplate }) => uriTemplate === ref.uri)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such resource template.");
    }
    if (argument.name !== "task_id") return completed([]);
    const { completeTaskId } = await contents();
    return completed(await completeTaskId(app, reading(RUNS_URI, context), argument.value));
  });
}

export function servePrompts({ server }: McpServer): void {
  const fixtures = conformanceFixtures();
  server.setRequestHandler("prompts/list", async () => {
    const { listPrompts } = await prompts();
    return { prompts: [...listPrompts(), ...(fixtures?.FIXTURE_PROMPTS ?? [])] };
  });
  server.setRequestHandler("prompts/get", async ({ params }, context) => {
    const { getPrompt } = await prompts();
    return fixtures?.getFixturePrompt(params, context) ?? getPrompt(params.name, params.arguments);
  });
}

const completed = (values: string[]) => ({ completion: { values } });
