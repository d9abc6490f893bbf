/** The built `serve` as a process on its own port, with official SDK clients of both protocol eras. */

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import { type Ending, openScene, type Scene } from "./scene.ts";
import {
  BIN,
  type CallOptions,
  callTool,
  type Era,
  isolatedEnvironment,
  NODE_ARGUMENTS,
  temporaryDirectory,
  type ToolResult,
} from "./server.ts";

/** Not a real token; long enough for the strength check. */
const TEST_TOKEN = "test-token-never-real-0123456789abcdef";

export interface HttpServerOptions {
  env?: Record<string, string>;
  /** Kept if given by the caller; otherwise created, and removed on close. */
  configDir?: string;
  /** Additional arguments of `serve`. */
  args?: string[];
  /** Arguments of Node.js that run another build. */
  program?: string[];
}

export interface HttpClient {
  client: Client;
  transport: StreamableHTTPClientTransport;
  call: (name: string, input: Record<string, unknown>, options?: CallOptions) => Promise<ToolResult>;
  close: () => Promise<void>;
}

export interface RunningHttpServer {
  /** `http://host:port`, without a path. */
  url: string;
  port: number;
  /** The bearer token that `connect` sends by default. */
  token: string;
  pid: number;
  configDir: string;
  stdout: () => string;
  stderr: () => string;
  connect: (era?: Era, token?: string) => Promise<HttpClient>;
  /** Sends a plain request with the token, to a path such as `/mcp`. */
  request: (path: string, init?: RequestInit) => Promise<Response>;
  /** Resolves with the exit code when the process has ended. */
  exited: Promise<number | null>;
  /** Closes the clients, then ends the process as a service manager does, with SIGTERM. */
  close: () => Promise<void>;
}

export async function startHttpServer(options: HttpServerOptions = {}): Promise<RunningHttpServer> {
  const configDir = options.configDir ?? temporaryDirectory();
  const env = { ...isolatedEnvironment(configDir), MCP_AUTH_TOKEN: TEST_TOKEN, ...options.env };
  const token = env.MCP_AUTH_TOKEN;
  const child = spawn(
    process.execPath,
    [...NODE_ARGUMENTS, ...(options.program ?? [BIN]), "serve", "--port", "0", ...(options.args ?? [])],
    {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      const listening = /Listening on (http:\/\/\S+)\/mcp/.exec(stderr);
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
    void exited.then((code) => reject(new Error(`serve ended with ${code} before it listened:\n${stderr}`)));
  });
  const clients: HttpClient[] = [];
  return {
    url,
    port: Number(new URL(url).port),
    token,
    pid: child.pid ?? 0,
    configDir,
    stdout: () => stdout,
    stderr: () => stderr,
    connect: async (era = "modern", bearer = token) => {
      const connected = await connectHttp(url, era, bearer);
      clients.push(connected);
      return connected;
    },
    request: (path, init = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...Object.fromEntries(new Headers(init.headers)) },
      }),
    exited,
    close: async () => {
      await Promise.allSettled(clients.map((connected) => connected.close()));
      child.kill("SIGTERM");
      await exited;
      if (options.configDir === undefined) rmSync(configDir, { recursive: true, force: true });
    },
  };
}

/** `url` is that of the server, or of the endpoint with its parameters. */
export async function connectHttp(url: string, era: Era, token: string): Promise<HttpClient> {
  const endpoint = new URL(url);
  endpoint.pathname = "/mcp";
  const transport = new StreamableHTTPClientTransport(endpoint, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const client = new Client(
    { name: "test-client", version: "1.0.0" },
    { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  await client.connect(transport);
  return {
    client,
    transport,
    call: (name, input, options) => callTool(client, { name, input, ...options }),
    close: () => client.close(),
  };
}

export interface HttpScene extends Scene {
  http: (options?: Omit<HttpServerOptions, "configDir">) => Promise<RunningHttpServer>;
}

/** A scene with HTTP servers that share its simulator and config directory, and end with the test. */
export async function openHttpScene(context: Ending, scenario?: ScenarioInput | string): Promise<HttpScene> {
  const scene = await openScene(context, scenario);
  return {
    ...scene,
    http: async ({ env, ...options } = {}) => {
      const server = await startHttpServer({ ...options, env: { ...scene.env, ...env }, configDir: scene.configDir });
      context.onTestFinished(() => server.close());
      return server;
    },
  };
}
