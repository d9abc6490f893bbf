/** What was sent with the question of a run, as every answer lists it. */

import { z } from "zod";
import { materialOf } from "../../runs/start/start-options.ts";

const HASH_CHARACTERS = 12;

export const materialField = z
  .looseObject({})
  .optional()
  .describe("What was sent with the question: files with name, kind, bytes and hash; urls; stores; servers.");

/** What was sent with the question of a run; undefined without any. */
export function materialSent({ options }: { options: Record<string, unknown> }) {
  const material = materialOf(options);
  return (
    material && {
      files: material.files?.map(({ sha256, ...facts }) => ({ ...facts, sha256: sha256.slice(0, HASH_CHARACTERS) })),
      urls: material.urls,
      file_search_stores: material.fileSearchStores,
      mcp_servers: material.mcpServers,
    }
  );
}

export type SentMaterial = ReturnType<typeof materialSent>;

/** One line for each piece of material. */
export function materialTexts(material: SentMaterial): string[] {
  const { files = [], urls = [], file_search_stores: stores = [], mcp_servers: servers = [] } = material ?? {};
  return [
    ...files.map(
      ({ name, kind, bytes, sha256 }) => `${name} (${kind}, ${bytes.toLocaleString("en-US")} bytes, sha256 ${sha256})`,
    ),
    ...urls,
    ...stores,
    ...servers.map((name) => `MCP server ${name}`),
  ];
}
