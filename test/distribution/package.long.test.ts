/** The package as another user gets it: in an empty directory, with odd paths, and with a home that cannot be written. */

import { execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { installedClient } from "../../lab/clients/client.ts";
import { openProxy } from "../kit/server/proxy.ts";
import { openScene } from "../kit/server/scene.ts";
import { ROOT, temporaryDirectory } from "../kit/server/server.ts";
import { OTHER_NODES } from "../kit/vitest/node-lines.ts";

const run = promisify(execFile);
const NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"];

function packIn(folder: string): string {
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: ROOT });
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
}

const NODES = [{ name: "this Node.js", version: process.versions.node }, ...OTHER_NODES];

test.for(NODES)(
  "installed from its tarball without a network, it starts, lists its tools and searches through a proxy: $name (X4)",
  async (line, { onTestFinished, skip }) => {
    const node = "bin" in line ? installedClient(line) : process.execPath;
    if (node === undefined) skip(`${line.name} is not installed; with CI=true the long tests install it.`);
    const folder = temporaryDirectory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const scene = await openScene({ onTestFinished });
    const proxy = await openProxy({ onTestFinished });
    const args = [join(ROOT, "scripts/try-package.js"), packIn(folder), scene.gemini.url, proxy.url];
    const { stdout } = await run(node ?? "", args, { timeout: 120_000 });
    expect(JSON.parse(stdout)).toMatchObject({
      node: line.version,
      doctor: "answered",
      serverExit: 0,
      tools: expect.any(Number),
      search: "answered",
    });
    expect(proxy.passed.length).toBeGreaterThan(0);
  },
);

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)(
  "as another user with a read-only home it answers, and refuses a paid start (X4, B5)",
  async ({ onTestFinished }) => {
    const folder = temporaryDirectory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, "Programme für alle");
    mkdirSync(program);
    execFileSync("tar", ["--extract", "--file", packIn(folder), "--directory", program]);
    cpSync(process.execPath, join(folder, "node"));
    mkdirSync(join(folder, "home"), { mode: 0o555 });
    for (const path of [folder, program]) chmodSync(path, 0o755);
    const env = { PATH: "/usr/bin:/bin", HOME: join(folder, "home"), GEMINI_API_KEY: "not-a-real-key" };
    const args = [...NOBODY, join(folder, "node"), join(program, "package/bin/gemini-search-mcp.js")];
    const server = spawn("setpriv", args, { env, stdio: ["pipe", "pipe", "pipe"] });
    onTestFinished(() => void server.kill("SIGKILL"));
    let log = "";
    server.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const answers = new Map<unknown, unknown>();
    createInterface({ input: server.stdout }).on("line", (line) => {
      const { id, ...answer } = z.looseObject({ id: z.unknown() }).parse(JSON.parse(line));
      answers.set(id, answer);
    });
    const clientInfo = { name: "another user", version: "1.0.0" };
    const start = { name: "start_deep_research", arguments: { query: "heat pumps in the cold climates of Norway" } };
    for (const message of [
      { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: start },
    ])
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    await expect.poll(() => answers.get(2)).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(answers.get(2))).toContain("SQLITE_ERROR");
    expect(log).toContain("cannot be created or written");
  },
);
