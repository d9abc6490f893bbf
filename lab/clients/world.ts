/**
 * The environment of one trial: simulated Google, our server's folder, the client's home directory, a blocking proxy,
 * and cleanup.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { isAlive, processesNaming } from "../../test/kit/server/processes.ts";
import { type Client, type ServerConnection, install } from "./client.ts";
import { type RecordedHttpServer, startRecordedHttpServer } from "./recorded-http-server.ts";
import { type BlockingProxy, startBlockingProxy } from "./loopback.ts";
import { type Passed, readWire } from "./wire.ts";

export type Transport = "stdio" | "http";

export interface World {
  gemini: Simulator;
  gate: BlockingProxy;
  folder: string;
  home: string;
  work: string;
  bin: string;
  connection: ServerConnection;
  /** The environment of a client, without anything that leads outside. */
  env: Record<string, string>;
  wire(): Passed[];
  /**
   * Ends the processes of the client and its servers that are still alive after a grace period, and returns their
   * number.
   */
  sweep(): Promise<number>;
  close(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, "../..");
const EXIT_GRACE_MS = 10_000;
const TAP = join(import.meta.dirname, "tap.ts");

interface WorldOptions {
  scenario: ScenarioInput;
  /** Further settings of our server. */
  settings?: Record<string, string>;
}

function serverEnvironment(folder: string, gemini: Simulator): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
    HOME: join(folder, "server-home"),
    GEMINI_SEARCH_CONFIG_DIR: join(folder, "config"),
    SEARCH_BACKEND: "api",
    GOOGLE_GEMINI_BASE_URL: gemini.url,
    GEMINI_API_KEY: "lab-key-never-real",
  };
}

function clientEnvironment(home: string, gate: BlockingProxy): Record<string, string> {
  const loopback = "127.0.0.1,localhost,::1";
  return {
    PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
    HOME: home,
    TERM: "dumb",
    HTTP_PROXY: gate.url,
    HTTPS_PROXY: gate.url,
    http_proxy: gate.url,
    https_proxy: gate.url,
    NO_PROXY: loopback,
    no_proxy: loopback,
  };
}

async function sweep(folder: string, spared: readonly number[]): Promise<number> {
  const left = (): number[] => processesNaming(folder).filter((pid) => !spared.includes(pid));
  const until = Date.now() + EXIT_GRACE_MS;
  while (left().length > 0 && Date.now() < until) await sleep(200);
  const pids = left();
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  return pids.length;
}

export async function openWorld(
  client: Client,
  transport: Transport,
  { scenario, settings = {} }: WorldOptions,
): Promise<World> {
  const bin = await install(client);
  const folder = mkdtempSync(join(tmpdir(), `lab-${client.name}-`));
  // Inside the home directory, so that clients show it without the rest of the path.
  const [home, work] = [join(folder, "home"), join(folder, "home/project")];
  for (const name of ["home", "home/project", "server-home", "config"]) mkdirSync(join(folder, name), { mode: 0o700 });
  const gemini = await startSimulator({ scenario });
  const gate = await startBlockingProxy();
  const server = { command: process.execPath, args: [join(ROOT, "bin/gemini-search-mcp.js")] };
  const env = { ...serverEnvironment(folder, gemini), ...settings };
  const file = join(folder, "wire.jsonl");
  const http: RecordedHttpServer | undefined =
    transport === "http" ? await startRecordedHttpServer({ ...server, env }) : undefined;
  const stdio: ServerConnection = {
    transport: "stdio",
    command: server.command,
    args: [TAP, file, server.command, ...server.args],
    env,
  };
  return {
    gemini,
    gate,
    folder,
    home,
    work,
    bin,
    connection: http?.connection ?? stdio,
    env: clientEnvironment(home, gate),
    wire: () => http?.passed ?? readWire(file),
    sweep: () => sweep(folder, [process.pid, ...(http === undefined ? [] : [http.pid])]),
    async close() {
      await http?.close();
      await sweep(folder, [process.pid]);
      await gemini.close();
      await gate.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
