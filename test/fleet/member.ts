/** A server or worker of a fleet, which is restarted whenever it ends, like under a service manager. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN } from "../kit/server/server.ts";
import type { Machine } from "./machine.ts";

export interface Member {
  name: string;
  service: "server" | "worker";
  /** Base URL of a server, without `/mcp`. */
  url: string | undefined;
  machine: Machine | undefined;
  pid(): number;
  /** Ends it, waits, and starts it again; resolves when it is ready. */
  restart(signal: "SIGTERM" | "SIGKILL", afterMs: number): Promise<void>;
  /** Ends it permanently. Returns the exit code or the signal. */
  stop(): Promise<number | string | null>;
  /** Unexpected exits, each with the end of the log. */
  unexpectedExits: string[];
  stderr(): string;
}

export interface MemberOptions {
  name: string;
  service: Member["service"];
  url: string | undefined;
  env: Record<string, string>;
  commandPrefix: string[];
  machine: Machine | undefined;
}

const READY = /Listening on http|Polling \d+ unfinished/;
const RESTART_DELAY_MS = 1_000;
const MAX_LOG_CHARACTERS = 100_000;

export async function startMember({ name, service, url, env, commandPrefix, machine }: MemberOptions): Promise<Member> {
  const unexpectedExits: string[] = [];
  let log = "";
  let shouldRun = true;
  let child: ChildProcess;

  const begin = async (): Promise<void> => {
    const program = [process.execPath, BIN, service === "server" ? "serve" : "worker"];
    // The kernel ends the child when this process dies for any reason.
    child = spawn("setpriv", ["--pdeathsig", "KILL", ...commandPrefix, ...program], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const self = child;
    let own = "";
    await new Promise<void>((resolve, reject) => {
      self.stderr?.setEncoding("utf8").on("data", (text: string) => {
        log = (log + text).slice(-MAX_LOG_CHARACTERS);
        own = (own + text).slice(0, MAX_LOG_CHARACTERS);
        if (READY.test(own)) resolve();
      });
      self.once("error", reject);
      self.once("exit", (code, signal) => {
        if (!shouldRun) return resolve();
        unexpectedExits.push(`${name} ended with ${code ?? signal}: ${log.slice(-500)}`);
        void sleep(RESTART_DELAY_MS)
          .then(() => (shouldRun ? begin() : undefined))
          .then(resolve, reject);
      });
    });
  };
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<number | string | null> => {
    shouldRun = false;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode;
    const exited = once(child, "exit");
    child.kill(signal);
    const [code, by] = await exited;
    return code ?? by;
  };

  await begin();
  return {
    name,
    service,
    url,
    machine,
    unexpectedExits,
    pid: () => child.pid ?? 0,
    stderr: () => log,
    restart: async (signal, afterMs) => {
      await end(signal);
      await sleep(afterMs);
      shouldRun = true;
      await begin();
    },
    stop: () => end("SIGTERM"),
  };
}
