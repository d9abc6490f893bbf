/** `demo`: a whole deep research against the simulator, and its report on the page, with nothing to set up. */

import { fork, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { DEMO_VARIABLE } from "../../config/config.ts";
import { readEnvironment } from "../../config/environment.ts";
import { SETTINGS } from "../../config/settings.ts";
import { KEY_PAGE } from "../../gemini/failures.ts";
import { findProgram } from "../../platform/find-program.ts";
import { createShutdown, leaveOnSignals } from "../../platform/shutdown.ts";
import { EXIT_CODES, printFailure, printText } from "../output.ts";
import { paintFor } from "../render/paint.ts";

/** Path of the simulator, for `dist/` and for `src/`. */
const SIMULATOR = [new URL("./simulator.js", import.meta.url), new URL("../../../simulator/main.ts", import.meta.url)]
  .map((url) => fileURLToPath(url))
  .find((path) => existsSync(path));
const SIMULATOR_START_MS = 10_000;

/** The simulator has a report for this question; for others it invents one. */
const DEMO_QUESTION = "How well do air-source heat pumps work in cold climates?";

const INTRODUCTION = `Gemini is simulated on this machine: the answer and its sources are invented, and nothing is charged.
Google takes minutes for a research like this; the demo takes ten seconds.`;

const STOPPED = "Demo stopped. Nothing was charged, and nothing is left running.";
/** Of a clone, in which nothing is installed yet. */
const SOURCE = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const isToInstall = (): boolean =>
  existsSync(SOURCE) && findProgram("gemini-search-mcp", readEnvironment(), process.platform) === undefined;
const ended = (): string =>
  `That was simulated, and its data is deleted. For the real thing: get a key at ${KEY_PAGE}, then run ${isToInstall() ? "npm install -g . && " : ""}gemini-search-mcp init`;

export interface DemoOptions {
  /** False with --no-open: the link is only printed. */
  open: boolean;
}

/** `asked` is empty for the question of the demo. */
export async function runDemo(asked: string, { open }: DemoOptions): Promise<void> {
  const question = asked === "" ? DEMO_QUESTION : asked;
  const shutdown = createShutdown();
  let isRead = false;
  // Registered first, so that it runs last, when everything has really ended.
  shutdown.finally(() => printFailure(`\n${isRead ? ended() : STOPPED}`));
  leaveOnSignals(shutdown, () => (isRead ? EXIT_CODES.ok : EXIT_CODES.interrupted));
  const simulator = await startSimulator(question === DEMO_QUESTION ? "demo-report" : "demo");
  shutdown.finally(simulator.stop);
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-mcp-demo-"));
  shutdown.finally(() => rmSync(directory, { recursive: true, force: true }));
  const paint = paintFor(process.stdout);
  await printText(`${paint("strong", "Demo")}  ${question}\n${paint("faint", INTRODUCTION)}\n`);
  const run: CliRun = { settings: demoSettings(directory, simulator.url), signal: shutdown.signal };
  const { status, taskId } = await shutdown.during(research(question, run));
  if (shutdown.leaving()) return;
  if (taskId === undefined) return shutdown.leave(status || EXIT_CODES.failed);
  isRead = true;
  if (process.stdin.isTTY && process.stdout.isTTY) await shutdown.during(showPage(taskId, { ...run, open }));
  await shutdown.leave(status);
}

const listAnswer = z.object({ runs: z.array(z.object({ task_id: z.string() })) });
const saveAnswer = z.object({ file_path: z.string() });

/** Runs the commands that a user would run. */
async function research(question: string, run: CliRun): Promise<{ status: number; taskId?: string }> {
  const { status } = await runCli(["--no-pager", "research", question, "--wait", "--yes"], run);
  if (status !== 0 || run.signal.aborted) return { status };
  const listed = await runCli(["list", "--json"], { ...run, capture: true });
  const taskId = listAnswer.parse(JSON.parse(listed.output)).runs[0]?.task_id;
  if (taskId === undefined) return { status: EXIT_CODES.failed };
  const save = ["save", taskId, "--output-dir", "research_reports", "--json"];
  const saved = await runCli(save, { ...run, capture: true });
  if (saved.status !== 0) return { status: saved.status, taskId };
  await printText(`\nSaved: ${relative(process.cwd(), saveAnswer.parse(JSON.parse(saved.output)).file_path)}`);
  return { status, taskId };
}

/** Serves the page until Ctrl-C, which the child receives as well. */
async function showPage(taskId: string, { open, ...run }: CliRun & DemoOptions): Promise<void> {
  await printText("\nThe same report in the browser, where you can also start more simulated research:");
  await runCli(["open", taskId, "--port", "0", ...(open ? [] : ["--no-open"])], run);
}

const FIRST_POLL_MS = 1_000;

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
    // The live view begins at once, and the end is noticed within a second.
    RESEARCH_SYNC_WINDOW_MS: "0",
    RESEARCH_POLL_INTERVAL_MS: String(FIRST_POLL_MS),
    // Otherwise the first start prints one that is worth nothing after the demo.
    MCP_AUTH_TOKEN: crypto.randomUUID(),
    [DEMO_VARIABLE]: "true",
  };
}

async function startSimulator(scenario: string): Promise<{ url: string; stop(): void }> {
  if (SIMULATOR === undefined) throw new Error("The simulator is not part of this build.");
  const child = fork(SIMULATOR, ["--scenario", scenario], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The simulator did not start.")), SIMULATOR_START_MS);
    child.once("message", (message: { url: string }) => {
      clearTimeout(timer);
      resolve(message.url);
    });
    child.once("exit", () => reject(new Error("The simulator exited immediately.")));
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
