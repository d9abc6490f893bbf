/** The main job with nothing to set up: a deep search against the simulator, in a directory of its own. */

import { fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { print } from "./output.ts";

/** Beside this file in `src/`, beside the bundle in `dist/`. */
const SIMULATOR = [new URL("./simulator.js", import.meta.url), new URL("../simulator/main.ts", import.meta.url)]
  .map((url) => fileURLToPath(url))
  .find((path) => existsSync(path));
const SIMULATOR_START_MS = 10_000;

export async function runDemo(question: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-mcp-demo-"));
  const simulator = await startSimulator();
  print("Demo: Gemini is simulated on this machine. The answer and its sources are invented; nothing is charged.\n");
  print(`Question: ${question}\n`);
  const { status } = await runCli(["deep-search", question], {
    GEMINI_SEARCH_CONFIG_DIR: directory,
    GOOGLE_GEMINI_BASE_URL: simulator.url,
    GEMINI_API_KEY: "demo-key-of-the-simulator",
    SEARCH_BACKEND: "api",
  });
  simulator.stop();
  rmSync(directory, { recursive: true, force: true });
  print('\nThat was the simulator. For real answers set GEMINI_API_KEY and run: gemini-search-mcp deep-search "…"');
  process.exitCode = status;
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

/** A process of its own, as a user's would be: it shares nothing with the simulator but an address. */
async function runCli(args: string[], settings: Record<string, string>): Promise<{ status: number }> {
  const { spawn } = await import("node:child_process");
  const { readEnvironment } = await import("../config.ts");
  const entry = process.argv[1] ?? "";
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...readEnvironment(), ...settings },
    stdio: "inherit",
  });
  return new Promise((resolve) => child.once("exit", (code) => resolve({ status: code ?? 1 })));
}
