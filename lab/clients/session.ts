/** One process of a client, from start to exit. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "./client.ts";
import { type Model, type Script, startModel } from "./model.ts";
import { QUESTION } from "./script.ts";
import type { World } from "./world.ts";

export interface Session {
  model: Model;
  output: () => string;
  /** Without a code: killed, or timed out. */
  ended: Promise<{ code: number | null; seconds: number }>;
  kill(): void;
}

/** Far above the duration of any trial. */
const MAX_SESSION_MS = 15 * 60_000;

export async function startSession(client: Client, world: World, script: Script): Promise<Session> {
  const model = await startModel(client.api, script);
  const { home, work, connection, folder } = world;
  const prompt = `Research this with the tools of the server: ${QUESTION}`;
  const { args, env } = client.prepare({ home, work, connection, modelUrl: model.url, prompt });
  const began = Date.now();
  // Its own process group, so that its children end with it.
  const child = spawn(world.bin, args, {
    cwd: work,
    env: { ...world.env, LAB_FOLDER: folder, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The whole group has ended.
    }
  };
  const over = new AbortController();
  void sleep(MAX_SESSION_MS, undefined, { signal: over.signal }).then(kill, () => undefined);
  const exited = async (): Promise<{ code: number | null; seconds: number }> => {
    await once(child, "exit");
    over.abort();
    return { code: child.exitCode, seconds: (Date.now() - began) / 1_000 };
  };
  return { model, output: () => output, ended: exited(), kill };
}
