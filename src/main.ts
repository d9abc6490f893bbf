/** Entry point: without arguments the stdio server, or a greeting at a terminal; otherwise a command. */

import { existsSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { configDirectory } from "./config/directory.ts";
import { readEnvironment } from "./config/environment.ts";
import { createGuestExit } from "./platform/shutdown.ts";
import { unexpectedError } from "./platform/unexpected-error.ts";

const STDIN = 0;
const WRITABLE_BY_OTHERS = 0o022;

const NESTED_START =
  "gemini-search-mcp was started by a Gemini CLI that gemini-search-mcp itself had started. It does not run inside itself.";

export async function main(argv: string[]): Promise<void> {
  process.on("uncaughtException", (error) => {
    printUnexpected(error);
    process.exit(1);
  });
  cacheCompiledCode();
  try {
    await start(argv);
  } catch (error) {
    printUnexpected(error);
    process.exitCode = 1;
  }
}

/**
 * Keeps the compiled bundle for the next start, in the config directory once that exists. What is in it is executed, so
 * not where other users could have written.
 */
function cacheCompiledCode(): void {
  const directory = configDirectory({ platform: process.platform, home: homedir(), environment: readEnvironment() });
  const compiled = join(directory, "compile-cache");
  if (isOwn(directory) && (!existsSync(compiled) || isOwn(compiled))) enableCompileCache(compiled);
}

/** False where there is nothing, or no access: then every start compiles. */
function isOwn(path: string): boolean {
  try {
    const { uid, mode } = statSync(path);
    return process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0);
  } catch {
    return false;
  }
}

/**
 * The stdio server in a process that another program owns, such as Claude Desktop's, which imports this bundle: it has
 * no arguments and no terminal, and that process is not ours to end.
 */
export async function serveAsGuest(): Promise<void> {
  process.on("uncaughtException", printUnexpected);
  await serveStdio({ exit: createGuestExit() });
}

/** Where no log is at hand. Node itself would print the whole line of the bundle, which can be all of a file. */
function printUnexpected(error: unknown): void {
  const [first = "", ...frames] = unexpectedError(error).message.split("\n");
  process.stderr.write(`${[`[ERROR] ${first} (${new Date().toISOString()})`, ...frames].join("\n")}\n`);
}

async function start(argv: string[]): Promise<void> {
  if (argv.length > 0) {
    const { runCommand } = await import("./cli/program.ts");
    await runCommand(argv);
    return;
  }
  if (isatty(STDIN)) {
    // No MCP client is connected to a terminal: a person has typed the bare command.
    const { printGreeting } = await import("./cli/greeting.ts");
    return printGreeting();
  }
  await serveStdio({});
}

async function serveStdio({ exit }: { exit?: (code: number) => void }): Promise<void> {
  const [{ createApp }, { runStdioServer }] = await Promise.all([import("./app.ts"), import("./mcp/stdio/stdio.ts")]);
  const app = createApp({ logFrom: "INFO", ...(exit === undefined ? {} : { exit }) });
  if (app.config.depth > 0) {
    app.log.error(NESTED_START);
    process.exitCode = 1;
    return;
  }
  runStdioServer(app);
}
