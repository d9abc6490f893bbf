/** Runs a program without a shell in its own process group, and leaves no process of that group behind. */

import { spawn, type ChildProcess } from "node:child_process";
import { errorCodeOf } from "./error-code.ts";

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_CHARS = 64 * 1024;
/** A process that left the group may keep our pipes open; the output of the others arrives long before. */
const DRAIN_MS = 1_000;

export interface ChildRequest {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Written immediately, then closed. */
  stdin: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** Time between SIGTERM and SIGKILL. Evaluated when the stop begins, because a shutdown has less time. */
  grace: () => number;
  onOutput: (text: string) => void;
  maxOutputBytes?: number | undefined;
}

export type ChildOutcome =
  | {
      /** `stopped`: by `stopAllChildren`. The exit code is meaningful only for `exit`. */
      ended: "exit" | "timeout" | "aborted" | "stopped" | "output_limit";
      exitCode: number | undefined;
      signal: NodeJS.Signals | undefined;
      /** The last 64 KB. */
      stderr: string;
    }
  | { ended: "not_started"; errorCode: string };

type Ending = Exclude<ChildOutcome["ended"], "not_started">;

interface LiveChild {
  stop: (graceMs: number) => void;
  kill: () => void;
  exited: Promise<unknown>;
}

const live = new Set<LiveChild>();

/** For shutdown: sends SIGTERM to all children, kills the remaining ones after `graceMs`, and waits. */
export async function stopAllChildren(graceMs: number): Promise<void> {
  const children = [...live];
  for (const child of children) child.stop(graceMs);
  await Promise.all(children.map((child) => child.exited));
}

const killAllAtExit = (): void => {
  for (const child of live) child.kill();
};

function addLive(child: LiveChild): void {
  live.add(child);
  if (live.size === 1) process.on("exit", killAllAtExit);
}

function removeLive(child: LiveChild): void {
  live.delete(child);
  if (live.size === 0) process.off("exit", killAllAtExit);
}

export function runChild(request: ChildRequest): Promise<ChildOutcome> {
  if (request.signal.aborted) {
    return Promise.resolve({ ended: "aborted", exitCode: undefined, signal: undefined, stderr: "" });
  }
  let child: ChildProcess;
  try {
    child = spawn(request.command, [...request.args], {
      cwd: request.cwd,
      env: request.env,
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      windowsHide: true,
      // A process group of its own on POSIX. On Windows it would only open a console, and taskkill follows the process
      // tree.
      detached: process.platform !== "win32",
    });
  } catch (error) {
    return Promise.resolve({ ended: "not_started", errorCode: codeOf(error) });
  }
  return watchChild(child, request);
}

function watchChild(child: ChildProcess, request: ChildRequest): Promise<ChildOutcome> {
  const { promise, resolve } = Promise.withResolvers<ChildOutcome>();
  let ending: Ending = "exit";
  let killTimer: NodeJS.Timeout | undefined;
  let killAt = Number.POSITIVE_INFINITY;
  let exited = false;
  const kill = (): void => signalGroup(child, "SIGKILL");
  const stop = (why: Ending, graceMs: number): void => {
    if (exited) return;
    if (killTimer === undefined) {
      ending = why;
      signalGroup(child, "SIGTERM");
    }
    // A shutdown may shorten the grace period of a stop in progress; nothing extends it.
    killAt = Math.min(killAt, performance.now() + graceMs);
    clearTimeout(killTimer);
    killTimer = setTimeout(kill, killAt - performance.now());
  };
  const entry: LiveChild = { stop: (graceMs) => stop("stopped", graceMs), kill, exited: promise };
  const onAbort = (): void => stop("aborted", request.grace());
  const deadline = setTimeout(() => stop("timeout", request.grace()), request.timeoutMs);
  const stderr = collectTail(child);
  readOutput(child, request, () => stop("output_limit", request.grace()));
  writeInput(child, request.stdin);

  const settle = (outcome: ChildOutcome): void => {
    clearTimeout(deadline);
    clearTimeout(killTimer);
    request.signal.removeEventListener("abort", onAbort);
    removeLive(entry);
    resolve(outcome);
  };

  addLive(entry);
  request.signal.addEventListener("abort", onAbort, { once: true });

  child.on("error", (error) => {
    if (child.pid === undefined) settle({ ended: "not_started", errorCode: codeOf(error) });
  });
  child.once("exit", (code, signal) => {
    exited = true;
    // Its descendants must not outlive it or keep its output open. Windows loses the process tree with its root.
    if (process.platform !== "win32") kill();
    const done = (): void => {
      clearTimeout(drain);
      child.stdout?.destroy();
      child.stderr?.destroy();
      settle({
        ended: ending,
        exitCode: code ?? undefined,
        signal: signal ?? undefined,
        stderr: stderr(),
      });
    };
    const drain = setTimeout(done, DRAIN_MS);
    child.once("close", done);
  });
  return promise;
}

function readOutput(child: ChildProcess, request: ChildRequest, onLimit: () => void): void {
  const limit = request.maxOutputBytes ?? MAX_OUTPUT_BYTES;
  let bytes = 0;
  child.stdout?.setEncoding("utf8").on("error", ignore);
  child.stdout?.on("data", (text: string) => {
    const before = bytes;
    bytes += Buffer.byteLength(text);
    // Beyond the limit the output is read, so that the child does not block, and discarded.
    if (bytes <= limit) request.onOutput(text);
    else if (before <= limit) onLimit();
  });
}

function collectTail(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("utf8").on("error", ignore);
  child.stderr?.on("data", (text: string) => {
    tail = (tail + text).slice(-MAX_STDERR_CHARS);
  });
  return () => tail;
}

function writeInput(child: ChildProcess, text: string): void {
  // EPIPE: the child exited without reading; its exit code is more informative.
  child.stdin?.on("error", ignore);
  child.stdin?.end(text);
}

function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  if (process.platform === "win32") {
    // Windows has no termination signal for console programs, and `kill` would leave their children.
    spawn("taskkill", ["/PID", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () =>
      child.kill(),
    );
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: the group is empty.
  }
}

const ignore = (): void => {};

const codeOf = (error: unknown): string => errorCodeOf(error) || "UNKNOWN";
