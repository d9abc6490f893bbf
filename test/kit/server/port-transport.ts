/** An MCP client's transport to a server in a utility process, which is reached through its port and has no input. */

import { fork } from "node:child_process";
import { once } from "node:events";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

interface PortServer {
  transport: Transport;
  pid: number;
  stderr: () => string;
  /** Exit code and signal. */
  ended: Promise<unknown[]>;
}

export function forkServer(host: string, entry: string, env: Record<string, string>): PortServer {
  const child = fork(host, [entry], { env, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  let rest = "";
  const transport: Transport = {
    start: () => {
      child.on("message", (chunk) => {
        const lines = (rest + String(chunk)).split("\n");
        rest = lines.pop() ?? "";
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client validates what it receives
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
      });
      child.on("exit", () => transport.onclose?.());
      return Promise.resolve();
    },
    send: (message) => {
      child.send(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close: () => {
      // The end of the input.
      if (child.connected) child.send(null as never);
      return Promise.resolve();
    },
  };
  return { transport, pid: child.pid ?? 0, stderr: () => stderr, ended: once(child, "exit") };
}
