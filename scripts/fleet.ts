/**
 * Runs the processes of compose.yaml without containers: `npm run fleet [-- --servers 2 --workers 3 --scenario demo]`.
 * Each has its own config directory, as on a separate machine; they share only a temporary PostgreSQL.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SETTINGS } from "../src/config/settings.ts";
import type { Scenario } from "../simulator/scenario.ts";
import { startSimulator } from "../simulator/server.ts";
import { programsOf, readComposition, ROOT, type Service } from "./compose-file.ts";
import { startPostgres } from "./postgres.ts";

export interface FleetProcess {
  service: string;
  pid: number;
  /** For servers, without `/mcp`. */
  url: string | undefined;
  stderr(): string;
  /** Resolves when the process has ended. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface Fleet {
  processes: FleetProcess[];
  /** The token that clients send to any of the servers. */
  token: string;
  /** Ends the processes as a service manager does, then removes what they used. */
  stop(): Promise<void>;
}

export interface FleetOptions {
  /** By service; the default is that of compose.yaml. */
  replicas?: Record<string, number>;
  /** URL of a PostgreSQL database; by default a temporary one is created. */
  database?: string | undefined;
  /** Scenario of the simulator, which is used unless there is an API key. */
  scenario?: Scenario | string;
  /** Additional settings for every process. */
  environment?: Record<string, string>;
}

type Step = () => Promise<void> | void;

export async function startFleet({
  replicas = {},
  database,
  scenario = "demo",
  environment = {},
}: FleetOptions = {}): Promise<Fleet> {
  const undo: Step[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const token = randomBytes(24).toString("base64url");
    const settings = {
      ...(await geminiSettings(environment, scenario, undo)),
      GEMINI_SEARCH_DATABASE_URL: database ?? (await startTemporaryDatabase(undo)),
      MCP_AUTH_TOKEN: token,
      MCP_SERVER_HOST: "127.0.0.1",
      MCP_SERVER_PORT: "0",
    };
    const processes: FleetProcess[] = [];
    undo.push(async () => void (await Promise.all(processes.map((process) => process.end("SIGTERM")))));
    const starting = programsOf(readComposition()).flatMap(([name, service]) =>
      Array.from({ length: replicas[name] ?? service.deploy.replicas }, () => start(name, service, { settings, undo })),
    );
    const started = await Promise.allSettled(starting);
    processes.push(...started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
    const failed = started.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return { processes, token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Passes the Gemini settings of this command to all processes, so that a fleet can be tried with a real key. */
async function geminiSettings(
  environment: Record<string, string>,
  scenario: Scenario | string,
  undo: Step[],
): Promise<Record<string, string>> {
  const given = Object.keys(SETTINGS).flatMap((name) => {
    const value = environment[name] ?? process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const settings: Record<string, string> = { SEARCH_BACKEND: "api", ...Object.fromEntries(given) };
  if (settings["GEMINI_API_KEY"] !== undefined) return settings;
  const simulator = await startSimulator({ scenario });
  undo.push(() => simulator.close());
  return { ...settings, GOOGLE_GEMINI_BASE_URL: simulator.url, GEMINI_API_KEY: "key-of-the-simulator" };
}

async function startTemporaryDatabase(undo: Step[]): Promise<string> {
  const postgres = await startPostgres();
  if (postgres === undefined) throw new Error("PostgreSQL is not installed.");
  undo.push(() => postgres.stop());
  return `${postgres.url}postgres`;
}

/** The log line of a process that is ready. */
const READY = /Listening on (http:\/\/[^\s"]+)\/mcp|Polling \d+ unfinished/;

async function start(
  service: string,
  { command = [], environment }: Service,
  { settings, undo }: { settings: Record<string, string>; undo: Step[] },
): Promise<FleetProcess> {
  const directory = mkdtempSync(join(tmpdir(), `gemini-search-${service}-`));
  undo.unshift(() => rmSync(directory, { recursive: true, force: true }));
  const own = { PATH: process.env["PATH"] ?? "", HOME: directory, GEMINI_SEARCH_CONFIG_DIR: directory };
  const program = [process.execPath, join(ROOT, "bin/gemini-search-mcp.js"), ...command];
  // The kernel ends the child when this process dies for any reason.
  const child = spawn("setpriv", ["--pdeathsig", "TERM", ...program], {
    env: { ...own, ...environment, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  const url = await new Promise<string | undefined>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const ready = READY.exec(output);
      if (ready !== null) resolve(ready[1]);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${service} ended with ${code} before it was ready:\n${output}`)));
  });
  return {
    service,
    pid: child.pid ?? 0,
    url,
    stderr: () => output,
    end: (signal) => end(child, signal),
  };
}

async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { servers: { type: "string" }, workers: { type: "string" }, scenario: { type: "string" } },
  });
  const { servers, workers, scenario } = values;
  const replicas = {
    ...(servers !== undefined && { server: Number(servers) }),
    ...(workers !== undefined && { worker: Number(workers) }),
  };
  const leaving = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  const { processes, token, stop } = await startFleet({ replicas, ...(scenario !== undefined && { scenario }) });
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const { service, pid, url } of processes) print(`${service.padEnd(8)}pid ${pid}${url ? `  ${url}/mcp` : ""}`);
  print(`Token:  ${token}\nCtrl-C ends all processes.`);
  await leaving;
  await stop();
}
