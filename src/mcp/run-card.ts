/** The run card, an MCP App: a `ui://` resource that clients show beside the answers of some tools. */

import type {
  CallToolRequest,
  ReadResourceResult,
  Resource,
  Server,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import type { Operation } from "../operations/operation.ts";
import type { ToolName, ToolSet } from "../config/tool-sets.ts";
import announced from "./announced-tools.json" with { type: "json" };
import { clientOf } from "./client.ts";

const EXTENSION = "io.modelcontextprotocol/ui";

const CARD_URI = "ui://gemini-search/run";
const CARD_MIME = "text/html;profile=mcp-app";

/** Tools whose answers are about one run, which the card shows. */
export const CARDED_TOOLS: readonly ToolName[] = [
  "deep_search",
  "start_deep_research",
  "check_research_status",
  "get_research_results",
];

/** In the entry of such a tool; clients before the specification of 2026-01-26 read the second key. */
export const CARD_REFERENCE = { ui: { resourceUri: CARD_URI }, "ui/resourceUri": CARD_URI };

/** In the entry of a tool that a model must not see. */
export const APP_ONLY = { ui: { visibility: ["app"] } };

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by a script from the very type
const CARD_TOOLS = announced.cardTools as Tool[];

/** Whether this client shows MCP Apps. Any other client gets no tool or resource that only an app uses. */
export const showsCards = (server: Server, context: ServerContext): boolean =>
  clientOf(server, context).capabilities.extensions?.[EXTENSION] !== undefined;

const hasCard = ({ listed }: ToolSet): boolean => listed.some((name) => CARDED_TOOLS.includes(name));

/** A tool of the catalogue that the card needs, whatever the tool set. */
const CANCEL: ToolName = "cancel_research";

/** What the card calls: its own tools, and the one that cancels a run, if the tool set lacks it. */
export function cardTools(all: readonly Tool[], tools: ToolSet): Tool[] {
  if (!hasCard(tools)) return [];
  const cancel = all.filter(({ name }) => name === CANCEL && !tools.listed.includes(CANCEL));
  return [...CARD_TOOLS, ...cancel.map(cancelOnly)];
}

/** A tool set without deletion stays without it. */
function cancelOnly(tool: Tool): Tool {
  const { task_id = {} } = tool.inputSchema.properties ?? {};
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: { task_id } }, _meta: APP_ONLY };
}

const isCardTool = (name: string): boolean => CARD_TOOLS.some((tool) => tool.name === name);

/** Callable although not listed: some clients show cards without declaring it. */
export async function findCardOperation(name: string, tools: ToolSet): Promise<Operation | undefined> {
  if (!hasCard(tools) || !isCardTool(name)) return undefined;
  const { CARD_OPERATIONS } = await import("../web/chat/card.ts");
  return CARD_OPERATIONS.find((operation) => operation.name === name);
}

export const isCancelOfCard = ({ name, arguments: given = {} }: CalledTool, tools: ToolSet): boolean =>
  name === CANCEL && hasCard(tools) && Object.keys(given).every((parameter) => parameter === "task_id");

type CalledTool = CallToolRequest["params"];

/** Nothing is loaded from anywhere: scripts, styles and pictures are in the document or come through the client. */
const CARD_META = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
};

export const CARD_RESOURCE: Resource = {
  uri: CARD_URI,
  name: "run-card",
  title: "Run card",
  description: "Shows a run and its report in the chat.",
  mimeType: CARD_MIME,
  _meta: CARD_META,
};

export const isCardUri = (uri: string): boolean => uri === CARD_URI;

/** The same for everyone, until the next version of the program. */
const CACHING = { ttlMs: 3_600_000, cacheScope: "public" } as const;

export async function readCard(uri: string): Promise<ReadResourceResult> {
  const { readCardDocument } = await import("../web/chat/card.ts");
  return { contents: [{ uri, mimeType: CARD_MIME, text: await readCardDocument(), _meta: CARD_META }], ...CACHING };
}
