/** Documents, pictures, stores and MCP servers of a start: what Google accepts, and how it refuses the rest. */

import { createHash } from "node:crypto";
import { z } from "zod";
import type { GoogleError } from "../../google-errors.ts";
import type { Attachment } from "../../ledger.ts";

/** Named by the page about the agent; CSV by the types of Google's SDK. */
const DOCUMENT_TYPES = ["application/pdf", "text/plain", "text/csv"];
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "image/gif", "image/bmp"];
const MAX_DOCUMENT_BYTES: Readonly<Record<string, number>> = { "application/pdf": 50_000_000, "text/plain": 7_000_000 };

/** The stores that exist; any other name is unknown, as a deleted one is at Google. */
const KNOWN_STORES = ["fileSearchStores/demo", "fileSearchStores/handbook"];

export const toolSchema = z.looseObject({
  type: z.string(),
  file_search_store_names: z.array(z.string()).optional(),
  name: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  allowed_tools: z.array(z.looseObject({ tools: z.array(z.string()).optional() })).optional(),
});

const part = z.looseObject({
  type: z.enum(["document", "image"]),
  data: z.string().optional(),
  uri: z.string().optional(),
  mime_type: z.string().optional(),
});

type Part = z.output<typeof part>;

export const partsIn = (input: unknown): Part[] =>
  (Array.isArray(input) ? input : [input]).flatMap((item: unknown) => {
    const parsed = part.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });

export const attachmentsIn = (input: unknown): Attachment[] =>
  partsIn(input).map(({ type, data = "", mime_type: mimeType = "" }) => {
    const content = Buffer.from(data, "base64");
    return { type, mimeType, bytes: content.length, hash: createHash("sha256").update(content).digest("hex") };
  });

interface MaterialRefusal {
  name: string;
  error: GoogleError;
}

export function refusalOfMaterial({
  input,
  tools,
}: {
  input: unknown;
  tools: readonly z.output<typeof toolSchema>[];
}): MaterialRefusal | undefined {
  for (const each of [...partsIn(input).map(refusalOfPart), ...tools.map(refusalOfTool)]) {
    if (each !== undefined) return each;
  }
  return undefined;
}

const invalid = (name: string, message: string): MaterialRefusal => ({
  name,
  error: { code: 400, message, status: "INVALID_ARGUMENT" },
});

function refusalOfPart({ type, data, uri, mime_type: mimeType = "" }: Part): MaterialRefusal | undefined {
  if (data === undefined && uri === undefined) return invalid("part-empty", "Either data or uri must be set.");
  if (!(type === "image" ? IMAGE_TYPES : DOCUMENT_TYPES).includes(mimeType))
    return invalid("mime-unsupported", `Unsupported MIME type: ${mimeType}`);
  const content = Buffer.from(data ?? "", "base64");
  if (content.length > (MAX_DOCUMENT_BYTES[mimeType] ?? Infinity))
    return invalid("file-too-large", "The file size exceeds the limit.");
  if (data !== undefined && mimeType === "application/pdf" && !content.subarray(0, 1_024).includes("%PDF-"))
    return invalid("document-broken", "The document has no pages.");
  return undefined;
}

function refusalOfTool({
  type,
  file_search_store_names: stores = [],
  url = "",
}: z.output<typeof toolSchema>): MaterialRefusal | undefined {
  if (type === "mcp_server")
    return url.startsWith("https://") ? undefined : invalid("mcp-url", "An MCP server needs an https url.");
  const unknown = stores.find((name) => !KNOWN_STORES.includes(name));
  if (unknown === undefined) return undefined;
  const error = { code: 404, message: `${unknown} is not found.`, status: "NOT_FOUND" };
  return { name: "store-unknown", error };
}
