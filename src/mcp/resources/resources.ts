/** Request handlers for resources (runs, reports, pictures), prompts and completions. */

import { type McpServer, ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import type { App } from "../../app.ts";
import type { ResourceRequest } from "./contents.ts";
import { ABOUT_PICTURE, ABOUT_REPORT, ABOUT_RUN, pictureUri, reportUri, RUNS_URI, runUri } from "./uris.ts";
import type { Connection } from "../client.ts";
import { CARD_RESOURCE, isCardUri, readCard, showsCards } from "../run-card.ts";

const TEMPLATES = [
  { ...ABOUT_RUN, name: "run", uriTemplate: runUri("{task_id}") },
  { ...ABOUT_REPORT, name: "report", uriTemplate: reportUri("{task_id}") },
  { ...ABOUT_PICTURE, name: "picture", uriTemplate: pictureUri("{task_id}", "{n}") },
];

/** Loaded on demand: few clients use more than the tools, and the start-up should be fast. */
const contents = () => import("./contents.ts");
const prompts = () => import("../prompts.ts");

interface ResourcesOptions {
  app: App;
  connection: Connection;
  /** Called when the client has read the list of resources. */
  onListed: () => void;
}

export function serveResources({ server }: McpServer, { app, connection, onListed }: ResourcesOptions): void {
  const { caller } = connection;
  const requestFor = (uri: string, { mcpReq }: ServerContext): ResourceRequest => ({
    caller,
    uri,
    signal: mcpReq.signal,
  });
  server.setRequestHandler("resources/list", async (_request, context) => {
    const { listResources } = await contents();
    const resources = await listResources(app, requestFor(RUNS_URI, context));
    onListed();
    return { resources: showsCards(server, context) ? [...resources, CARD_RESOURCE] : resources };
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    if (isCardUri(uri)) return readCard(uri);
    const { readResource } = await contents();
    return readResource(app, requestFor(uri, context));
  });
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }, context) => {
    // Arguments of prompts are free texts.
    if (ref.type === "ref/prompt") return completed([]);
    if (!TEMPLATES.some(({ uriTemplate }) => uriTemplate === ref.uri)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such resource template.");
    }
    if (argument.name !== "task_id") return completed([]);
    const { completeTaskId } = await contents();
    return completed(await completeTaskId(app, requestFor(RUNS_URI, context), argument.value));
  });
}

export function servePrompts({ server }: McpServer, { tools }: Connection): void {
  server.setRequestHandler("prompts/list", async () => {
    const { listPrompts } = await prompts();
    return { prompts: listPrompts(tools) };
  });
  server.setRequestHandler("prompts/get", async ({ params }) => {
    const { getPrompt } = await prompts();
    return getPrompt(params.name, params.arguments, tools);
  });
}

const completed = (values: string[]) => ({ completion: { values } });
