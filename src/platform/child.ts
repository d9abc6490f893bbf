/** Runs one program, without a shell, as the head of a process group of which nothing is left afterwards. */

import { spawn, type ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_CHARS = 64 * 1024;
/** A process that left the group may hold our pipes open for ever; what the others wrote arrives long before. */
const DRAIN_MS = 1_000;

export interface ChildRequest {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Written at once, then closed. */
  stdin: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** How long a polite stop may take; asked when the stop begins, because a shutdown has less time. */
  grace: () => number;
  onOutput: (text: string) => void;
  maxOutputBytes?: number | undefined;
}

export type ChildOutcome =
  | {
      /** `stopped`: by `stopAllChildren`. The exit code of anything but `exit` says nothing. */
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
  gone: Promise<unknown>;
}

const live = new Set<LiveChild>();

/** For shutdown: asks all children to leave, kills those that have not after `graceMs`, and waits. */
export async function stopAllChildren(graceMs: number): Promise<void> {
  const children = [...live];
  for (const child of children) child.stop(graceMs);
  await Promise.all(children.map((child) => child.gone));
}

const killAllAtExit = (): void => {
  for (const child of live) child.kill();
};

function enter(child: LiveChild): void {
  live.add(child);
  if (live.size === 1) process.on("exit", killAllAtExit);
}

function leave(child: LiveChild): void {
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
      // A group of its own on POSIX; on Windows it would only open a console, and taskkill follows the tree.
      detached: process.platform !== "win32",
    });
  } catch (error) {
    return Promise.resolve({ ended: "not_started", errorCode: codeOf(error) });
  }
  return follow(child, request);
}

function follow(child: ChildProcess, request: ChildRequest): Promise<ChildOutcome> {
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
    // A shutdown may shorten the grace of a stop that is under way; nothing lengthens it.
    killAt = Math.min(killAt, performance.now() + graceMs);
    clearTimeout(killTimer);
    killTimer = setTimeout(kill, killAt - performance.now());
  };
  const entry: LiveChild = { stop: (graceMs) => stop("stopped", graceMs), kill, gone: promise };
  const onAbort = (): void => stop("aborted", request.grace());
  const deadline = setTimeout(() => stop("timeout", request.grace()), request.timeoutMs);
  const stderr = collectTail(child);
  readOutput(child, request, () => stop("output_limit", request.grace()));
  writeInput(child, request.stdin);

  const settle = (outcome: ChildOutcome): void => {
    clearTimeout(deadline);
    clearTimeout(killTimer);
    request.signal.removeEventListener("abort", onAbort);
    leave(entry);
    resolve(outcome);
  };

  enter(entry);
  request.signal.addEventListener("abort", onAbort, { once: true });

  child.on("error", (error) => {
    if (child.pid === undefined) settle({ ended: "not_started", errorCode: codeOf(error) });
  });
  child.once("exit", (code, signal) => {
    exited = true;
    // Whatever it forked must not outlive it, nor hold its output open. Windows forgets the tree with its root.
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
  // A chunk may end in the middle of a character.
  const decoder = new StringDecoder("utf8");
  let bytes = 0;
  const deliver = (text: string): void => {
    if (text !== "") request.onOutput(text);
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    const before = bytes;
    bytes += chunk.length;
    // Past the limit it is still read, so that the child does not block, but not kept.
    if (bytes <= limit) deliver(decoder.write(chunk));
    else if (before <= limit) onLimit();
  });
  child.stdout?.on("end", () => {
    if (bytes <= limit) deliver(decoder.end());
  });
  child.stdout?.on("error", ignore);
}

function collectTail(child: ChildProcess): () => string {
  const decoder = new StringDecoder("utf8");
  let tail = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = (tail + decoder.write(chunk)).slice(-MAX_STDERR_CHARS);
  });
  child.stderr?.on("error", ignore);
  return () => tail;
}

function writeInput(child: ChildProcess, text: string): void {
  // EPIPE: it left without reading, which its exit code explains better.
  child.stdin?.on("error", ignore);
  child.stdin?.end(text);
}

function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  if (process.platform === "win32") {
    // Windows has no polite signal for a console program, and `kill` would leave its children.
    spawn("taskkill", ["/PID", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () =>
      child.kill(),
    );
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nobody is left.
  }
}

const ignore = (): void => {};

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
