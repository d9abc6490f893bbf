/** Runs the built command line as a user does: a process with its own stdin, stdout, stderr and exit code. */

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { BIN, NODE_ARGUMENTS } from "./server.ts";

export interface CommandOptions {
  env: Record<string, string>;
  stdin?: string | undefined;
  /** The Node.js that runs the launcher; by default the one that runs the tests. */
  node?: string | undefined;
  cwd?: string | undefined;
}

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  child: ChildProcessWithoutNullStreams;
  /** The output on stderr so far. */
  stderr: () => string;
  ended: Promise<CommandResult>;
}

export function startCommand(args: string[], { env, stdin, node, cwd }: CommandOptions): RunningCommand {
  const program = node === undefined ? [process.execPath, ...NODE_ARGUMENTS] : [node];
  const [command = "", ...before] = program;
  const child = spawn(command, [...before, BIN, ...args], { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin ?? "");
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, stderr: () => stderr, ended };
}
