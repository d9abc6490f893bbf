/** A stand-in for the `gemini` program: behaves as its scenario says, and keeps a ledger of its calls. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, flush, type StandinBehaviour } from "./standin-answer.ts";

export interface StandinScenario extends StandinBehaviour {
  /** In order of the calls; the last one repeats. */
  calls?: StandinBehaviour[];
}

export interface StandinRecord {
  pid: number;
  started_at: string;
  argv: string[];
  env_names: string[];
  env: Record<string, string | undefined>;
  cwd: string;
  cwd_listing: string[];
  settings: unknown;
  home_listing: string[];
  stdin: { sha256: string; text: string } | null;
  grandchild: number | null;
}

/** Installs an executable `gemini` in a directory, which a test then puts on PATH. */
export function installStandin(directory: string, moduleUrl: string = import.meta.url): string {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, "gemini");
  // A shebang line is limited in length and cannot be quoted.
  const interpreter = /^\S{1,120}$/.test(process.execPath) ? process.execPath : "/usr/bin/env node";
  const program = `import(${JSON.stringify(moduleUrl)}).then((standin) => standin.runStandin());\n`;
  writeFileSync(file, `#!${interpreter}\n${program}`);
  chmodSync(file, 0o755);
  if (process.platform === "win32") installForWindows(directory, program);
  return file;
}

function installForWindows(directory: string, program: string): void {
  const folder = join(directory, "node_modules", "@google", "gemini-cli");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "commonjs", bin: { gemini: "gemini.js" } }));
  writeFileSync(join(folder, "gemini.js"), program);
  writeFileSync(join(directory, "gemini.cmd"), "@exit /b 1\r\n");
}

export function readStandinLedger(file: string): StandinRecord[] {
  let text = "";
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line.startsWith('{"pid"'))
    .map((line): StandinRecord => JSON.parse(line));
}

export async function runStandin(): Promise<void> {
  const startedAt = new Date().toISOString();
  const scenario = readScenario();
  if (scenario.ignoreSigterm)
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  process.stdout.on("error", () => process.exit(0));
  const prompt = scenario.ignoreStdin ? undefined : await readStdin();
  const position = writeStart(startedAt, prompt, fork(scenario));
  const behaviour = { ...scenario, ...choose(scenario.calls ?? [], prompt ?? "", position) };
  await behave(behaviour, prompt ?? "");
}

async function behave(behaviour: StandinBehaviour, prompt: string): Promise<void> {
  leaveLitter(behaviour.litter ?? []);
  if (behaviour.sleepMs !== undefined) await sleep(behaviour.sleepMs);
  if (behaviour.hang) await forever();
  if (behaviour.printBytes !== undefined) await print(behaviour.printBytes);
  if (behaviour.closeStdout) process.stdout.destroy();
  if (!behaviour.silent && !behaviour.closeStdout) await answer(behaviour, prompt);
  if (behaviour.stderr !== undefined) process.stderr.write(behaviour.stderr);
  if (behaviour.hangAfterAnswer) await forever();
  ledger({ event: "end", pid: process.pid, ended_at: new Date().toISOString() });
  process.exit(behaviour.exitCode ?? 0);
}

function readScenario(): StandinScenario {
  const given = process.env["GEMINI_STANDIN_SCENARIO"] ?? "{}";
  const text = given.trimStart().startsWith("{") ? given : readFileSync(given, "utf8");
  return JSON.parse(text);
}

function choose(calls: StandinBehaviour[], prompt: string, position: number): StandinBehaviour {
  const fitting = calls.find((call) => call.prompt !== undefined && new RegExp(call.prompt).test(prompt));
  const inOrder = calls.filter((call) => call.prompt === undefined);
  return fitting ?? inOrder[Math.min(position, inOrder.length - 1)] ?? {};
}

/** Returns the number of earlier calls in the ledger. */
function writeStart(startedAt: string, prompt: string | undefined, grandchild: number | null): number {
  const home = join(process.env["GEMINI_CLI_HOME"] ?? ".", ".gemini");
  const shown = [
    "GEMINI_CLI_HOME",
    "GEMINI_SYSTEM_MD",
    "GEMINI_SEARCH_DEPTH",
    "GEMINI_CLI_NO_RELAUNCH",
    "TMPDIR",
    "NO_COLOR",
    "NO_BROWSER",
    "HTTPS_PROXY",
    "LANG",
  ];
  const record: StandinRecord = {
    pid: process.pid,
    started_at: startedAt,
    argv: process.argv.slice(2),
    env_names: Object.keys(process.env).toSorted(),
    env: Object.fromEntries(shown.map((name) => [name, process.env[name]])),
    cwd: process.cwd(),
    cwd_listing: readdirSync(process.cwd()),
    settings: readSettings(join(home, "settings.json")),
    home_listing: list(home),
    stdin: prompt === undefined ? null : { sha256: createHash("sha256").update(prompt).digest("hex"), text: prompt },
    grandchild,
  };
  ledger(record);
  const file = process.env["GEMINI_STANDIN_LEDGER"];
  if (file === undefined) return 0;
  const records = readStandinLedger(file);
  return records.findIndex(({ pid, started_at }) => pid === record.pid && started_at === startedAt);
}

function ledger(entry: object): void {
  const file = process.env["GEMINI_STANDIN_LEDGER"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(entry)}\n`);
}

async function print(bytes: number): Promise<void> {
  const block = Buffer.alloc(64 * 1024, "x");
  for (let printed = 0; printed < bytes; printed += block.length) await flush(block);
}

function fork({ forkMs, forkDaemon }: StandinBehaviour): number | null {
  if (forkMs === undefined) return null;
  const code = `setTimeout(() => {}, ${forkMs})`;
  const detached = forkDaemon ?? false;
  return spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "ignore"], detached }).pid ?? null;
}

function leaveLitter(names: string[]): void {
  for (const name of names) {
    writeFileSync(join(process.env["TMPDIR"] ?? ".", name), "litter");
    writeFileSync(join(process.cwd(), name), "litter");
  }
}

async function readStdin(): Promise<string> {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
}

function readSettings(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

const forever = (): Promise<never> => new Promise(() => setInterval(() => {}, 1_000));
