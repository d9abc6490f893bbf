/**
 * The user's material in the body of a paid request. Files are sent inline: one request carries everything, so that a
 * start has one outcome, and nothing is left behind at Google. Shapes and limits: docs/fidelity.md, "Own material".
 */

import type { FileKind, Material, RemoteMcpServer, SentFile } from "../material.ts";

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
export function inputWith(text: string, { urls = [] }: Material, files: readonly SentFile[] = []) {
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

export function toolsWith({ fileSearchStores = [] }: Material, mcpServers: readonly RemoteMcpServer[] = []) {
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
