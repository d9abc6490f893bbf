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
  onProgress?: (message: string, figures: { progress: number; total: number | undefined }) => void;
  timeout?: number;
}

/** Without the messages of a call that is still waiting, such as `Working (2 s)`. */
export const withoutWaiting = (messages: readonly string[]): string[] =>
  messages.filter((message) => !/^Working \(\d+ s\)$/.test(message));

/** The id of the run whose first characters a progress message has named. */
export async function announcedRun(call: RunningServer["call"], messages: readonly string[]): Promise<string> {
  const short = /\(run ([0-9a-f]{8})\)/.exec(messages.join("\n"))?.[1];
  const { structured } = await call("list_research", {});
  const runs: { task_id: string }[] = structured["runs"];
  return runs.find(({ task_id }) => short !== undefined && task_id.startsWith(short))?.task_id ?? "";
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
  /** The client asks its user, who agrees to every question. */
  agrees?: boolean;
  /** The name of the client. */
  client?: string;
  /** The test measures its memory, so it runs as users have it. */
  isMeasured?: boolean;
}

/** For tests, which start thousands of processes: compiling is a seventh of each start. */
export const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "compile");

/**
 * For processes of tests, which are short-lived: with a large young generation most of them end before its first
 * collection. Not in benchmarks and tests of memory, which measure processes as users have them.
 */
export const NODE_ARGUMENTS = process.env["VITEST"] === undefined ? [] : ["--min-semi-space-size=32"];

/** The environment of a test's server, without anything that could reach a real Gemini or a real home directory. */
export function isolatedEnvironment(configDir: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: configDir,
    GEMINI_SEARCH_CONFIG_DIR: configDir,
    PAGER: "cat",
    // Most tests start more than a user would in a day.
    BUDGET_DAY_USD: "1000000",
    // Not in benchmarks, which measure the start as users have it.
    ...(process.env["VITEST"] === undefined ? {} : { NODE_COMPILE_CACHE: COMPILE_CACHE }),
  };
}

/**
 * The official transport starts a second server for the discovery of the modern era and discards it, but not for a
 * subclass: half of the processes, and the log has every request. `test/distribution` uses the transport as it is.
 */
export class OneProcessTransport extends StdioClientTransport {}

export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), "gemini-search-test-"));

export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { era = "modern", env = {}, configDir, isMeasured = false, agrees = false } = options;
  const capabilities = { ...options.capabilities, ...(agrees ? { elicitation: { form: {} } } : {}) };
  const { client: name = "test-client" } = options;
  const directory = configDir ?? temporaryDirectory();
  const transport = new OneProcessTransport({
    command: process.execPath,
    args: [...(isMeasured ? [] : NODE_ARGUMENTS), BIN],
    env: { ...isolatedEnvironment(directory), ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client(
    { name, version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  if (agrees) client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
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
      ...(onProgress === undefined
        ? {}
        : { onprogress: ({ message, progress, total }) => onProgress(message ?? "", { progress, total }) }),
    },
  );
  const [content] = result.content;
  return {
    isError: result.isError === true,
    structured: result.structuredContent as ToolResult["structured"],
    text: content?.type === "text" ? content.text : "",
  };
}
