/** A stdio client without an SDK: writes and reads lines, and records their times. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export type Era = "legacy" | "modern";

export interface StdioClient {
  /** When the process was spawned, on the clock of `performance.now()`. */
  spawnedAt: number;
  pid: number | undefined;
  request(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  notify(method: string): void;
  /** Closes stdin, as clients do, and waits until the process has ended. */
  close(): Promise<void>;
}

export interface Program {
  /** The arguments after `node`. */
  args: readonly string[];
  env: Record<string, string>;
}

/** Longer than any measurement; a server that does not exit is killed. */
const MAX_EXIT_MS = 10_000;

export function openStdioClient({ args, env }: Program): StdioClient {
  const spawnedAt = performance.now();
  const child = spawn(process.execPath, [...args], { env, stdio: ["pipe", "pipe", "ignore"] });
  const gone = once(child, "exit");
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  readReplies(child, waiting);
  void gone.then(() => {
    for (const { reject } of waiting.values()) reject(new Error("The server left before it had answered."));
  });
  let lastId = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    spawnedAt,
    pid: child.pid,
    request: (method, params) => {
      const id = (lastId += 1);
      const reply = Promise.withResolvers<Record<string, unknown>>();
      waiting.set(id, reply);
      send({ id, method, params });
      return reply.promise;
    },
    notify: (method) => send({ method }),
    close: async () => {
      const killTimer = setTimeout(() => child.kill("SIGKILL"), MAX_EXIT_MS);
      child.stdin.end();
      await gone;
      clearTimeout(killTimer);
    },
  };
}

interface Reply {
  id?: number;
  result?: Record<string, unknown>;
  error?: object;
}

function readReplies(
  child: ChildProcessByStdio<Writable, Readable, null>,
  waiting: Map<number, PromiseWithResolvers<Record<string, unknown>>>,
): void {
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error }: Reply = JSON.parse(line);
    const reply = waiting.get(id ?? 0);
    if (id === undefined || reply === undefined) return;
    waiting.delete(id);
    if (result === undefined) reply.reject(new Error(`The server refused: ${JSON.stringify(error)}`));
    else reply.resolve(result);
  });
}

const CLIENT = { name: "bench", version: "1.0.0" };

/** The metadata that a client of the 2026 era sends with every request. */
export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** As clients of each era do: the older one first waits for the response to `initialize`. */
export async function listTools(client: StdioClient, era: Era): Promise<Record<string, unknown>> {
  if (era === "modern") return client.request("tools/list", { _meta: MODERN_META });
  await client.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: CLIENT });
  client.notify("notifications/initialized");
  return client.request("tools/list", {});
}

/** Milliseconds from the request to its response, which must be a success. */
export async function timeCall(client: StdioClient, name: string, input: Record<string, unknown>): Promise<number> {
  const started = performance.now();
  const { isError, content } = await client.request("tools/call", { name, arguments: input, _meta: MODERN_META });
  const took = performance.now() - started;
  if (isError === true) throw new Error(`${name} failed: ${JSON.stringify(content)}`);
  return took;
}
