/** The main job with nothing to set up: a whole deep research against the simulator, its report on disk. */

import { fork, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readEnvironment } from "../../config/config.ts";
import type { getResearchResults } from "../../operations/get-research-results.ts";
import type { OutputOf } from "../../operations/operation.ts";
import { createShutdown, leaveOnSignals } from "../../platform/shutdown.ts";
import { SETTINGS } from "../../config/settings.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { print } from "../output.ts";

/** Path of the simulator, for `dist/` and for `src/`. */
const SIMULATOR = [new URL("./simulator.js", import.meta.url), new URL("../../../simulator/main.ts", import.meta.url)]
  .map((url) => fileURLToPath(url))
  .find((path) => existsSync(path));
const SIMULATOR_START_MS = 10_000;

export async function runDemo(question: string): Promise<void> {
  const shutdown = createShutdown();
  leaveOnSignals(shutdown, () => EXIT_CODES.interrupted);
  const simulator = await startSimulator();
  shutdown.finally(simulator.stop);
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-mcp-demo-"));
  shutdown.finally(() => rmSync(directory, { recursive: true, force: true }));
  await print(
    "Demo: Gemini is simulated on this machine. The answer and its sources are invented; nothing is charged.\n",
  );
  await print(`Question: ${question}\n`);
  const run: CliRun = { settings: demoSettings(directory, simulator.url), signal: shutdown.signal };
  const status = await shutdown.during(research(question, run));
  if (shutdown.leaving()) return;
  await print(
    '\nThat was the simulator. For real answers set GEMINI_API_KEY and run: gemini-search-mcp start-deep-research "…" --wait',
  );
  await shutdown.leave(status);
}

/** Runs the commands that a user would run. */
async function research(question: string, run: CliRun): Promise<number> {
  await runCli(["estimate-research-cost", question], run);
  await print("");
  const started = await runCli(["start-deep-research", question, "--wait", "--json"], { ...run, capture: true });
  // With --wait the answer is that of get_research_results, written by this very build.
  const answer: OutputOf<typeof getResearchResults> | undefined =
    started.status === 0 ? JSON.parse(started.output) : undefined;
  if (answer?.report === undefined) {
    await print(started.output);
    return started.status || EXIT_CODES.failed;
  }
  await print(`${answer.report}\n`);
  const saved = await runCli(["save-research-to-markdown", answer.task_id, "--output-dir", "research_reports"], run);
  return saved.status;
}

/** Unsets the user's settings, so that the demo uses nothing but the simulator; empty counts as not set. */
function demoSettings(directory: string, url: string): Record<string, string> {
  return {
    ...Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ""])),
    GEMINI_SEARCH_CONFIG_DIR: directory,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "demo-key-of-the-simulator",
    SEARCH_BACKEND: "api",
    GOOGLE_GENAI_USE_VERTEXAI: "",
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
  };
}

async function startSimulator(): Promise<{ url: string; stop(): void }> {
  if (SIMULATOR === undefined) throw new Error("The simulator is not part of this build.");
  const child = fork(SIMULATOR, ["--scenario", "demo"], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The simulator did not start.")), SIMULATOR_START_MS);
    child.once("message", (message: { url: string }) => {
      clearTimeout(timer);
      resolve(message.url);
    });
    child.once("exit", () => reject(new Error("The simulator ended at once.")));
  });
  return { url, stop: () => void child.kill("SIGTERM") };
}

interface CliRun {
  settings: Record<string, string>;
  signal: AbortSignal;
  /** Return the output instead of printing it. */
  capture?: boolean;
}

/** Runs a command in a process of its own, as a user would. */
async function runCli(
  args: string[],
  { settings, signal, capture = false }: CliRun,
): Promise<{ status: number; output: string }> {
  const entry = process.argv[1] ?? "";
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...readEnvironment(), ...settings },
    stdio: ["inherit", capture ? "pipe" : "inherit", "inherit"],
  });
  signal.addEventListener("abort", () => void child.kill("SIGINT"), { once: true });
  const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? EXIT_CODES.failed)));
  const output = child.stdout === null ? "" : await text(child.stdout);
  return { status: await exited, output };
}
