/**
 * A proxy between a client and our stdio server that records every line: `node tap.ts <file> <command> [argument …]`.
 */

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

const [file = "", command = "", ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });

function listen(stream: Readable, from: "client" | "server"): void {
  createInterface({ input: stream }).on("line", (line) => appendFileSync(file, `${JSON.stringify({ from, line })}\n`));
}

listen(process.stdin, "client");
listen(server.stdout, "server");
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
server.stdin.on("error", () => undefined);
process.stdout.on("error", () => server.stdin.end());
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => server.kill(signal));
server.on("close", (code) => process.exit(code ?? 1));
