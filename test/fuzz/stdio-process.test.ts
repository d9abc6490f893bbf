/** The built server answers the next valid request after damaged lines on its real stdin (A5, T16). */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { isRecord } from "../../src/platform/is-record.ts";
import { createRandom } from "../corpus/random.ts";
import { BIN, isolatedEnvironment, temporaryDirectory } from "../kit/server/server.ts";
import { jsonRpc } from "./json-rpc.ts";
import { mutate } from "./mutate.ts";
import { parsed } from "./target.ts";

interface RawServer {
  write(text: string): void;
  /** Resolves with the response to this id. */
  answer(id: string): Promise<Record<string, unknown>>;
  said: unknown[];
  left: Promise<unknown>;
  leave(): Promise<unknown>;
}

function startRaw(): RawServer {
  const directory = temporaryDirectory();
  // Without PATH there is no Gemini CLI, and without a key no Google, so a call that is valid by chance costs nothing.
  const env = { ...isolatedEnvironment(directory), PATH: "" };
  const child = spawn(process.execPath, [BIN], { env, cwd: directory, stdio: ["pipe", "pipe", "ignore"] });
  const left = once(child, "exit").then(([code]) => code as unknown);
  // The server may close stdin while we write.
  child.stdin.on("error", () => {});
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  });
  const said: unknown[] = [];
  const waiting = new Map<unknown, (message: Record<string, unknown>) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parsed(line);
    said.push(message);
    if (isRecord(message)) waiting.get(message["id"])?.(message);
  });
  return {
    write: (text) => void child.stdin.write(text),
    answer: (id) => new Promise((resolve) => waiting.set(id, resolve)),
    said,
    left,
    leave: () => {
      child.stdin.end();
      return left;
    },
  };
}

const PING = (id: string): string => `{"jsonrpc":"2.0","id":"${id}","method":"ping"}\n`;

test("every valid request after a thousand damaged lines is answered, and stdout stays JSON-RPC (A2, T16)", async () => {
  const server = startRaw();
  const random = createRandom(42);
  for (let round = 0; round < 10; round += 1) {
    for (let line = 0; line < 100; line += 1) {
      server.write(`${mutate(random, { pool: jsonRpc.seeds, words: jsonRpc.words, maxLength: 2_000 })}\n`);
    }
    const answered = server.answer(`after-${round}`);
    server.write(PING(`after-${round}`));
    expect(await answered).toMatchObject({ jsonrpc: "2.0" });
  }
  expect(server.said.filter((message) => !isRecord(message) || message["jsonrpc"] !== "2.0")).toEqual([]);
  expect(await server.leave()).toBe(0);
});

test("a line of 2 MB is one more invalid line (T16)", async () => {
  const server = startRaw();
  const answered = server.answer("after");
  // Nested as deep as it is long.
  server.write(`${"[".repeat(2 * 1024 * 1024)}\n${PING("after")}`);
  expect(await answered).toMatchObject({ jsonrpc: "2.0" });
  expect(await server.leave()).toBe(0);
});

test("an endless line is not buffered: the server exits, so that the client can start another (T16)", async () => {
  const server = startRaw();
  server.write("x".repeat(11 * 1024 * 1024));
  expect(await server.left).toBe(1);
}, 180_000);
