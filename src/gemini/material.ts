/** What a user sends with a research question besides its text. */

export const FILE_KINDS = ["pdf", "text", "markdown", "csv", "png", "jpeg", "webp"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** A file as every surface lists it. */
export interface FileFacts {
  name: string;
  kind: FileKind;
  bytes: number;
  /** In hexadecimal. */
  sha256: string;
}

export interface SentFile extends FileFacts {
  content: Uint8Array;
}

/** Stored with the run, so that a restart sends the same. Holds no content and no secret; an empty list is absent. */
export interface Material {
  files?: FileFacts[] | undefined;
  urls?: string[] | undefined;
  /** Names such as `fileSearchStores/handbook`. */
  fileSearchStores?: string[] | undefined;
  /** Names of servers in the configuration. */
  mcpServers?: string[] | undefined;
}

/** A remote MCP server that the agent may call, with its secrets: read from the configuration for each request. */
export interface RemoteMcpServer {
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Undefined allows all of its tools. */
  allowedTools: readonly string[] | undefined;
}

/**
 * What a request sends of it. Files and addresses are part of the conversation that a request continues, but Google
 * applies tools to one turn only.
 */
export function materialToSend({
  material = {},
  previousInteractionId,
}: { material?: Material | undefined; previousInteractionId?: string | undefined } = {}): Material {
  return previousInteractionId === undefined ? material : { ...material, files: undefined, urls: undefined };
}
