/** Starts our HTTP server behind a recording proxy, as a remote server for a client. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerConnection } from "./client.ts";
import { tapHttp } from "./http-tap.ts";
import type { Passed } from "./wire.ts";

export interface RecordedHttpServer {
  connection: ServerConnection;
  pid: number;
  passed: Passed[];
  close(): Promise<void>;
}

export interface ServerCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

const TOKEN = "lab-token-never-real-0123456789abcdef";

export async function startRecordedHttpServer({ command, args, env }: ServerCommand): Promise<RecordedHttpServer> {
  const child = spawn(command, [...args, "serve", "--port", "0"], {
    env: { ...env, MCP_AUTH_TOKEN: TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  let log = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const listening = /Listening on (http:\/\/\S+)\/mcp/.exec(log)?.[1];
      if (listening !== undefined) resolve(listening);
    });
    void exited.then(() => reject(new Error(`serve ended before it listened: ${log}`)));
  });
  const passed: Passed[] = [];
  const tap = await tapHttp(new URL(url), passed);
  return {
    connection: { transport: "http", url: `${tap.url}/mcp`, token: TOKEN },
    pid: child.pid ?? 0,
    passed,
    async close() {
      child.kill("SIGTERM");
      await exited;
      await tap.close();
    },
  };
}
