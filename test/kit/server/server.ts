/** The built stdio server behind the official SDK client, as a process with its own config directory. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, type ClientCapabilities } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const BIN = join(ROOT, "bin/gemini-search-mcp.js");
/** Not a real key; tests check that it does not leak. */
export const TEST_KEY = "test-key-never-real-4242";

export type Era = "legacy" | "modern";

export interface RunningServer {
  client: Client;
  pid: number;
  configDir: string;
  /** The output on stderr so far. */
  stderr: () => string;
  call: (name: string, input: Record<string, unknown>, options?: CallOptions) => Promise<ToolResult>;
  /** Ends the server as clients do, by closing stdin. */
  close: () => Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: (message: string) => void;
  timeout?: number;
}

export interface ToolResult {
  isError: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers of every shape
  structured: Record<string, any>;
  text: string;
}

export interface ServerOptions {
  era?: Era;
  env?: Record<string, string>;
  /** Kept if given by the caller; otherwise created, and removed on close. */
  configDir?: string;
  /** What the client declares. */
  capabilities?: ClientCapabilities;
}

/** For tests, which start thousands of processes: compiling is a seventh of each start. */
export const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "compile");

/** The environment of a test's server, without anything that could reach a real Gemini or a real home directory. */
export function isolatedEnvironment(configDir: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: configDir,
    GEMINI_SEARCH_CONFIG_DIR: configDir,
    // Not in benchmarks, which measure the start as users have it.
    ...(process.env["VITEST"] === undefined ? {} : { NODE_COMPILE_CACHE: COMPILE_CACHE }),
  };
}

export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), "gemini-search-test-"));

export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { era = "modern", env = {}, configDir, capabilities = {} } = options;
  const directory = configDir ?? temporaryDirectory();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN],
    env: { ...isolatedEnvironment(directory), ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client(
    { name: "test-client", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    configDir: directory,
    stderr: () => stderr,
    call: (name, input, options) => callTool(client, { name, input, ...options }),
    close: async () => {
      await client.close();
      if (configDir === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function callTool(
  client: Client,
  { name, input, signal, onProgress, timeout = 60_000 }: CallOptions & { name: string; input: Record<string, unknown> },
): Promise<ToolResult> {
  const result = await client.callTool(
    { name, arguments: input },
    {
      timeout,
      ...(signal === undefined ? {} : { signal }),
      ...(onProgress === undefined ? {} : { onprogress: ({ message }) => onProgress(message ?? "") }),
    },
  );
  const [content] = result.content;
  return {
    isError: result.isError === true,
    structured: result.structuredContent as ToolResult["structured"],
    text: content?.type === "text" ? content.text : "",
  };
}
