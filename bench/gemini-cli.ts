/** The Gemini CLI for the benches: one that times itself, and a default installation run by hand. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { childEnvironment, chooseSignIn } from "../src/gemini/cli/environment.ts";
import { createCliHome } from "../src/gemini/cli/home.ts";
import { ROOT, TEST_KEY } from "../test/kit/server/server.ts";
import { quietLog, searchPrompt } from "./questions.ts";

const REAL = join(ROOT, "node_modules/@google/gemini-cli/bundle/gemini.js");
const STANDIN = join(ROOT, "simulator/gemini-cli/standin-cli.ts");
const ARGUMENTS = ["--output-format", "stream-json"];

export interface TimedGemini {
  /** A PATH on which `gemini` is this one. */
  path: string;
  /** Milliseconds of its last call by its own measurement, from process start to exit. */
  lastTime(): number;
  /**
   * The part of its start and end that it cannot measure itself: the same command without a server, timed by its
   * parent, minus its own time.
   */
  timeUnseen(environment: Record<string, string>): Promise<number>;
}

/** The program is loaded into the process that times it, because the start of a second process would count as ours. */
export function installTimedGemini(directory: string, program: "real" | "standin"): TimedGemini {
  mkdirSync(directory, { recursive: true });
  const ledger = join(directory, "times");
  const file = join(directory, "gemini");
  const note = `require("fs").appendFileSync(${JSON.stringify(ledger)}, performance.now() + "\\n")`;
  const load =
    program === "real"
      ? `import(${JSON.stringify(pathToFileURL(REAL).href)})`
      : `import(${JSON.stringify(pathToFileURL(STANDIN).href)}).then((standin) => standin.runStandin())`;
  writeFileSync(file, `#!/usr/bin/env node\nprocess.on("exit", () => ${note});\n${load};\n`);
  chmodSync(file, 0o755);
  const lastTime = (): number => Number(readFileSync(ledger, "utf8").trim().split("\n").at(-1));
  return {
    path: [directory, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    lastTime,
    timeUnseen: async (environment) => (await timeAlone({ directory, file, environment })) - lastTime(),
  };
}

/** With the home, settings and variables of the backend, but without the backend. */
async function timeAlone(run: {
  directory: string;
  file: string;
  environment: Record<string, string>;
}): Promise<number> {
  const { directory, file, environment } = run;
  const home = createCliHome({ home: join(directory, "home"), log: quietLog });
  const signIn = chooseSignIn({ apiKey: TEST_KEY, vertex: false, environment, userHome: directory });
  const managed = { signInType: signIn.type, firecrawl: {} };
  const room = await home.createCallDirectory({ purpose: "research", credentialFiles: [], managed });
  const env = childEnvironment({
    parent: environment,
    signIn,
    apiKey: TEST_KEY,
    firecrawl: {},
    paths: {
      ...room,
      systemPromptFile: join(ROOT, "prompts/cli-system-prompt.md"),
      compileCache: await home.compileCache(file),
    },
  });
  try {
    return await timeProcess([file, ...ARGUMENTS], { cwd: room.workingDirectory, env });
  } finally {
    await room.remove();
  }
}

/** The minimum to run without a terminal and to reach only the simulator; defaults otherwise. */
const DEFAULT_SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
};

interface DefaultRun {
  directory: string;
  prompt: string;
  simulatorUrl: string;
}

/** Runs it as a user would in an empty folder, with its own home. Returns milliseconds from start to exit. */
export async function runDefaultCli({ directory, prompt, simulatorUrl }: DefaultRun): Promise<number> {
  const home = mkdtempSync(join(directory, "default-cli-"));
  const cwd = join(home, "empty");
  mkdirSync(cwd);
  mkdirSync(join(home, ".gemini"));
  writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(DEFAULT_SETTINGS));
  const env = {
    PATH: dirname(process.execPath),
    HOME: home,
    TMPDIR: home,
    GEMINI_CLI_HOME: home,
    GEMINI_API_KEY: TEST_KEY,
    GOOGLE_GEMINI_BASE_URL: simulatorUrl,
  };
  try {
    return await timeProcess([process.execPath, REAL, ...ARGUMENTS], { cwd, env, prompt });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface ProcessOptions {
  cwd: string;
  env: Record<string, string>;
  prompt?: string;
}

async function timeProcess(command: readonly string[], options: ProcessOptions): Promise<number> {
  const { cwd, env, prompt = searchPrompt() } = options;
  const [program = "", ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(prompt);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`The Gemini CLI left with code ${String(code)}.`);
  return performance.now() - started;
}
