/** A server or a worker of a fleet: started again whenever it ends, as by a service manager, at the same address. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN } from "../kit/server/server.ts";
import type { Machine } from "./machine.ts";

export interface Member {
  name: string;
  service: "server" | "worker";
  /** Of a server, without `/mcp`. */
  url: string | undefined;
  machine: Machine | undefined;
  pid(): number;
  /** Ends it, waits, and starts it again; done when it is ready. */
  restart(signal: "SIGTERM" | "SIGKILL", afterMs: number): Promise<void>;
  /** For good. The exit code, or the signal that ended it. */
  stop(): Promise<number | string | null>;
  /** How often it ended without being told to, with its last words. */
  left: string[];
  stderr(): string;
}

export interface MemberOptions {
  name: string;
  service: Member["service"];
  url: string | undefined;
  env: Record<string, string>;
  before: string[];
  machine: Machine | undefined;
}

const READY = /Listening on http|Following \d+ unfinished/;
const AGAIN_MS = 1_000;
const KEPT = 100_000;

export async function startMember({ name, service, url, env, before, machine }: MemberOptions): Promise<Member> {
  const left: string[] = [];
  let said = "";
  let wanted = true;
  let child: ChildProcess;

  const begin = async (): Promise<void> => {
    const program = [process.execPath, BIN, service === "server" ? "serve" : "worker"];
    // The kernel ends it when this process dies, however it dies.
    child = spawn("setpriv", ["--pdeathsig", "KILL", ...before, ...program], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const self = child;
    let own = "";
    await new Promise<void>((resolve, reject) => {
      self.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-KEPT);
        own = (own + text).slice(0, KEPT);
        if (READY.test(own)) resolve();
      });
      self.once("error", reject);
      self.once("exit", (code, signal) => {
        if (!wanted) return resolve();
        left.push(`${name} ended with ${code ?? signal}: ${said.slice(-500)}`);
        void sleep(AGAIN_MS)
          .then(() => (wanted ? begin() : undefined))
          .then(resolve, reject);
      });
    });
  };
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<number | string | null> => {
    wanted = false;
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
    left,
    pid: () => child.pid ?? 0,
    stderr: () => said,
    restart: async (signal, afterMs) => {
      await end(signal);
      await sleep(afterMs);
      wanted = true;
      await begin();
    },
    stop: () => end("SIGTERM"),
  };
}
