/**
 * A proxy between a client and our stdio server that records every line: `node tap.ts <file> <command> [argument …]`.
 * With LAB_ANONYMOUS the server does not learn which client it is.
 */

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { isRecord } from "../../src/platform/is-record.ts";

const [file = "", command = "", ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });

/** Older protocols name the client once, newer ones in every request. */
const withoutName = (line: string): string =>
  JSON.stringify(
    JSON.parse(line, (key, value: unknown) =>
      key.endsWith("clientInfo") && isRecord(value) ? { ...value, name: "unknown" } : value,
    ),
  );

const sent = process.env["LAB_ANONYMOUS"] === undefined ? (line: string): string => line : withoutName;

function forward(from: "client" | "server", source: Readable, target: Writable): void {
  createInterface({ input: source })
    .on("line", (line) => {
      appendFileSync(file, `${JSON.stringify({ from, line })}\n`);
      target.write(`${from === "client" ? sent(line) : line}\n`);
    })
    .on("close", () => target.end());
}

forward("client", process.stdin, server.stdin);
forward("server", server.stdout, process.stdout);
server.stdin.on("error", () => undefined);
process.stdout.on("error", () => server.stdin.end());
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => server.kill(signal));
server.on("close", (code) => process.exit(code ?? 1));
