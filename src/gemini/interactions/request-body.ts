/**
 * The body of a paid request: question, the user's material, and the format of a table. Files are sent inline: one
 * request carries everything, so that a start has one outcome, and nothing is left behind at Google. Shapes and limits:
 * docs/engineering/fidelity.md, "Own material".
 */

import {
  type FileKind,
  type Material,
  materialToSend,
  type RemoteMcpServer,
  type SentFile,
  type StartRequest,
} from "../research-agent.ts";

export function bodyOf(
  { query, agent, labels, omitsExtras, variant = {}, files, mcpServers }: StartRequest,
  webhookUrl?: string,
) {
  const { model, previousInteractionId, input = query, collaborativePlanning, columns } = variant;
  const { visualization = "off" } = variant;
  const material = materialToSend(variant);
  const common = {
    input: inputWith(input, material, files),
    ...toolsWith(material, mcpServers),
    background: true,
    store: true,
    ...(omitsExtras === true ? {} : { labels }),
    ...(omitsExtras === true || webhookUrl === undefined ? {} : { webhook_config: { uris: [webhookUrl] } }),
    ...(previousInteractionId === undefined ? {} : { previous_interaction_id: previousInteractionId }),
  };
  if (model !== undefined && columns !== undefined) {
    return {
      ...common,
      model,
      response_format: tableFormat(columns),
      generation_config: MODEL_OPTIONS.generation_config,
    };
  }
  if (model !== undefined) return { ...common, model, ...MODEL_OPTIONS };
  const agent_config = {
    type: "deep-research" as const,
    thinking_summaries: "auto" as const,
    visualization,
    ...(collaborativePlanning === undefined ? {} : { collaborative_planning: collaborativePlanning }),
  };
  return { ...common, agent, agent_config };
}

/** Google applies tools and configuration to one turn only, so a continued interaction needs them again. */
const MODEL_OPTIONS = {
  tools: [{ type: "google_search" as const }, { type: "url_context" as const }],
  generation_config: { thinking_summaries: "auto" as const },
};

/** Of documents the page about Deep Research names only PDF and plain text, so Markdown and CSV are plain text. */
const PARTS: Record<FileKind, { type: "document" | "image"; mime_type: string; name: string }> = {
  pdf: { type: "document", mime_type: "application/pdf", name: "PDF" },
  text: { type: "document", mime_type: "text/plain", name: "text" },
  markdown: { type: "document", mime_type: "text/plain", name: "Markdown" },
  csv: { type: "document", mime_type: "text/plain", name: "CSV" },
  png: { type: "image", mime_type: "image/png", name: "picture" },
  jpeg: { type: "image", mime_type: "image/jpeg", name: "picture" },
  webp: { type: "image", mime_type: "image/webp", name: "picture" },
};

/** A plain question stays a string. */
function inputWith(text: string, { urls = [] }: Material, files: readonly SentFile[] = []) {
  // No part has a field for its name, by which a question may refer to it.
  const listed = files.map(({ name, kind }, index) => `${index + 1}. ${name} (${PARTS[kind].name})`);
  const question = [
    text,
    ...(urls.length === 0 ? [] : [`Read these pages, too:\n${urls.map((url) => `- ${url}`).join("\n")}`]),
    ...(listed.length === 0 ? [] : [`The attached files, in this order:\n${listed.join("\n")}`]),
  ].join("\n\n");
  if (files.length === 0) return question;
  return [
    { type: "text" as const, text: question },
    ...files.map(({ kind, content }) => {
      const { type, mime_type } = PARTS[kind];
      return { type, mime_type, data: Buffer.from(content).toString("base64") };
    }),
  ];
}

/** Naming tools replaces the default ones, so these are named as well. */
const DEFAULT_TOOLS = [
  { type: "google_search" as const },
  { type: "url_context" as const },
  { type: "code_execution" as const },
];

function toolsWith({ fileSearchStores = [] }: Material, mcpServers: readonly RemoteMcpServer[] = []) {
  if (fileSearchStores.length + mcpServers.length === 0) return {};
  const stores = [{ type: "file_search" as const, file_search_store_names: fileSearchStores }];
  const servers = mcpServers.map(({ name, url, headers, allowedTools }) => ({
    type: "mcp_server" as const,
    name,
    url,
    headers: { ...headers },
    ...(allowedTools === undefined ? {} : { allowed_tools: [{ tools: [...allowedTools] }] }),
  }));
  return { tools: [...DEFAULT_TOOLS, ...(fileSearchStores.length === 0 ? [] : stores), ...servers] };
}

/**
 * Short keys instead of column names: Google refuses schemas with many long property names as too complex, and a name
 * of the user's may be any text.
 */
export const cellKey = (column: number): string => `c${column + 1}`;

/** A model writes this as the value of a cell that the report does not answer; a nullable type is not needed. */
const NOT_FOUND = "";

const CELL_RULES = `Value in a few words, "${NOT_FOUND}" if the report does not have it. Numbers of the sources that support it.`;

/** Only keywords that every version of Google's schema subset has: no null, no limits, no additionalProperties. */
export function tableFormat(columns: readonly string[]) {
  const keys = columns.map((_column, index) => cellKey(index));
  const cells = columns.map((column, index) => [cellKey(index), cellSchema(column)] as const);
  const row = { type: "object", properties: Object.fromEntries(cells), required: keys };
  return {
    type: "text" as const,
    mime_type: "application/json" as const,
    schema: { type: "object", properties: { rows: { type: "array", items: row } }, required: ["rows"] },
  };
}

const cellSchema = (column: string) => ({
  type: "object",
  description: `${column}. ${CELL_RULES}`,
  properties: { value: { type: "string" }, sources: { type: "array", items: { type: "integer" } } },
  required: ["value", "sources"],
});
