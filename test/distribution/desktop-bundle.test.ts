/** The desktop bundle, packed by the official packer, under the conditions in which Claude Desktop runs it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { packBundle, runPacker } from "../../scripts/desktop-bundle.ts";
import { DEFAULT_TOOLS, toolSet } from "../../src/config/tool-sets.ts";
import { isAlive } from "../kit/server/processes.ts";
import { forkServer } from "../kit/server/port-transport.ts";
import { openScene } from "../kit/server/scene.ts";
import { callTool, type Era, ROOT, temporaryDirectory } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const HOST = join(ROOT, "test/kit/server/utility-process-host.ts");
const MAX_BUNDLE_BYTES = 2_000_000;
const QUERY = "How do heat pumps perform in cold climates?";

/** Connects a client to a bundle whose process has no input: messages go through the port of its host. */
async function forkBundle(folder: string, env: Record<string, string>) {
  const server = forkServer(HOST, join(folder, "bin/desktop-extension.js"), env);
  onTestFinished(() => {
    if (isAlive(server.pid)) process.kill(server.pid, "SIGKILL");
  });
  const client = new Client({ name: "desktop", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(server.transport);
  return { client, ...server };
}

/** Connects a client to the server of an unpacked bundle. */
async function startBundle(folder: string, env: Record<string, string>, era: Era) {
  const entry = join(folder, "bin/desktop-extension.js");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [HOST, entry],
    env,
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const versionNegotiation = { mode: era === "modern" ? ({ pin: "2026-07-28" } as const) : ("legacy" as const) };
  const client = new Client({ name: "desktop", version: "1.0.0" }, { versionNegotiation });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid ?? 0, stderr: () => stderr };
}

/** How the process of a bundle ends when only its input does: exit code and signal. */
async function endOfInput(folder: string, env: Record<string, string>): Promise<unknown> {
  const child = spawn(process.execPath, [HOST, join(folder, "bin/desktop-extension.js")], {
    env,
    stdio: ["pipe", "ignore", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.end();
  return once(child, "exit");
}

test("the bundle is small, runs twice at once in a host's process and never ends that process (X3)", async (context) => {
  const scene = await openScene(context);
  const file = join(scene.configDir, "gemini-search.mcpb");
  packBundle(file);
  expect(statSync(file).size).toBeLessThan(MAX_BUNDLE_BYTES);
  const folder = join(temporaryDirectory(), "Claude Extensions", "gemini-search é 検索");
  mkdirSync(folder, { recursive: true });
  runPacker(["unpack", file, folder]);
  expect(readdirSync(join(folder, "dist")).filter((name) => name.endsWith(".map"))).toEqual([]);

  // The chat and its agent mode start one copy each, on the same database.
  const copies = await Promise.all([
    startBundle(folder, scene.env, "legacy"),
    startBundle(folder, scene.env, "modern"),
  ]);
  const { listed } = toolSet(DEFAULT_TOOLS);
  for (const { client } of copies) {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(listed);
  }
  const answers = await Promise.all(
    copies.map(({ client }, index) => callTool(client, { name: "search", input: { query: `${QUERY} ${index}` } })),
  );
  expect(answers.map(({ isError }) => isError)).toEqual([false, false]);
  const [first, second] = copies;
  const runs = await callTool(first.client, { name: "list_research", input: {} });
  expect(runs.structured["total"] ?? runs.structured["runs"]?.length).toBe(2);

  // Clients send a signal if the process outlives its input for two seconds.
  await first.client.close();
  process.kill(second.pid, "SIGTERM");
  await waitFor(() => expect(copies.map(({ pid }) => isAlive(pid))).toEqual([false, false]));
  expect(await endOfInput(folder, scene.env)).toEqual([0, null]);

  // Electron connects no input to a utility process: two copies with streams of the host in its place.
  const forked = await Promise.all([forkBundle(folder, scene.env), forkBundle(folder, scene.env)]);
  for (const { client } of forked) {
    const seen = await callTool(client, { name: "list_research", input: {} });
    expect(seen.structured["runs"]).toHaveLength(2);
  }
  await Promise.all(forked.map(({ client }) => client.close()));
  expect(await Promise.all(forked.map(({ ended }) => ended))).toEqual([
    [0, null],
    [0, null],
  ]);
  for (const { stderr } of [...copies, ...forked]) expect(stderr()).not.toMatch(/HOST:|\[ERROR\]/);
});
