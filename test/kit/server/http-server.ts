/** The built `serve` as its clients see it: a process on a port of its own, and official SDK clients of both eras. */

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
  temporaryDirectory,
  type ToolResult,
} from "./server.ts";

/** Never a real one; long enough for whoever checks its strength. */
const TEST_TOKEN = "test-token-never-real-0123456789abcdef";

export interface HttpServerOptions {
  env?: Record<string, string>;
  /** Kept by the caller when given; else made, and removed on close. */
  configDir?: string;
  /** More arguments of `serve`. */
  args?: string[];
  /** Another build, as arguments of Node. */
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
  /** What `connect` sends as bearer token by default. */
  token: string;
  pid: number;
  configDir: string;
  stdout: () => string;
  stderr: () => string;
  connect: (era?: Era, token?: string) => Promise<HttpClient>;
  /** A plain request with the token, to a path such as `/mcp`. */
  request: (path: string, init?: RequestInit) => Promise<Response>;
  /** The exit code, once the process has ended by itself or by a signal of the test. */
  exited: Promise<number | null>;
  /** Ends clients, then the process as a service manager does: SIGTERM. */
  close: () => Promise<void>;
}

export async function startHttpServer(options: HttpServerOptions = {}): Promise<RunningHttpServer> {
  const configDir = options.configDir ?? temporaryDirectory();
  const env = { ...isolatedEnvironment(configDir), MCP_AUTH_TOKEN: TEST_TOKEN, ...options.env };
  const token = env.MCP_AUTH_TOKEN;
  const child = spawn(
    process.execPath,
    [...(options.program ?? [BIN]), "serve", "--port", "0", ...(options.args ?? [])],
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

export async function connectHttp(url: string, era: Era, token: string): Promise<HttpClient> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), {
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

/** A scene whose HTTP servers share its simulator and its config directory, and end with the test. */
export async function openHttpScene(context: Ending, scenario?: ScenarioInput | string): Promise<HttpScene> {
  const scene = await openScene(context, scenario);
  return {
    ...scene,
    http: async ({ env, args = [] } = {}) => {
      const server = await startHttpServer({ env: { ...scene.env, ...env }, configDir: scene.configDir, args });
      context.onTestFinished(() => server.close());
      return server;
    },
  };
}
