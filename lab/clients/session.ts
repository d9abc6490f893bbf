/** One process of a client, from its start to its answer, its end or its death. */

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
  /** Without a code: killed, by us or because it took too long. */
  ended: Promise<{ code: number | null; seconds: number }>;
  kill(): void;
}

/** Far above what any trial takes. */
const AT_MOST_MS = 15 * 60_000;

export async function startSession(client: Client, world: World, script: Script): Promise<Session> {
  const model = await startModel(client.api, script);
  const { home, work, door, folder } = world;
  const prompt = `Research this with the tools of the server: ${QUESTION}`;
  const { args, env } = client.prepare({ home, work, door, modelUrl: model.url, prompt });
  const began = Date.now();
  // A group of its own, so that what it starts ends with it.
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
      // The whole group is gone.
    }
  };
  const over = new AbortController();
  void sleep(AT_MOST_MS, undefined, { signal: over.signal }).then(kill, () => undefined);
  const exited = async (): Promise<{ code: number | null; seconds: number }> => {
    await once(child, "exit");
    over.abort();
    return { code: child.exitCode, seconds: (Date.now() - began) / 1_000 };
  };
  return { model, output: () => output, ended: exited(), kill };
}
