/** The first commands of a new user: the bare command, a search without a key, and what they recommend. */

import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCommand } from "../kit/server/command.ts";
import { atTerminal, hasDialogues } from "../kit/server/dialogue.ts";
import { BIN, isolatedEnvironment, temporaryDirectory, TEST_KEY } from "../kit/server/server.ts";

/** A home without assistants, and a PATH with nothing but Node.js. */
function openHome() {
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const programs = join(home, "bin");
  mkdirSync(programs);
  const env = {
    ...isolatedEnvironment(join(home, "ours")),
    HOME: home,
    PATH: `${programs}:${dirname(process.execPath)}`,
  };
  const install = (name: string): void => {
    writeFileSync(join(programs, name), "#!/bin/sh\n");
    chmodSync(join(programs, name), 0o755);
  };
  return { home, env, install };
}

test.skipIf(!hasDialogues)("at a terminal the bare command greets and says what to do next", async () => {
  const { home, env, install } = openHome();
  const bare = (more: Record<string, string> = {}) => atTerminal("", { env: { ...env, ...more }, cwd: home });
  const fresh = await bare();
  expect(fresh.code).toBe(0);
  expect(fresh.seen).toContain("No Gemini API key found. Get one at https://aistudio.google.com/apikey");
  for (const command of ["init", "demo", "doctor", "--help"]) {
    expect(fresh.seen).toMatch(new RegExp(`gemini-search-mcp ${command} `));
  }
  expect(fresh.seen.trim().split("\n").length).toBeLessThan(12);
  const key = { GEMINI_API_KEY: TEST_KEY };
  const unconnected = await bare(key);
  expect(unconnected.seen).toContain("no assistant is connected yet");
  expect(unconnected.seen).toMatch(/gemini-search-mcp search /);
  expect(unconnected.seen).not.toContain("demo");
  install("codex");
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, ".codex/config.toml"), `[mcp_servers.mine]\ncommand = "node"\nargs = ["${BIN}"]\n`);
  expect((await bare(key)).seen).toContain("Connected to Codex.");
});

test("without a terminal the bare command is the server, whatever is missing (A2)", async () => {
  const { env, home } = openHome();
  const list = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const { code, stdout } = await startCommand([], { env, cwd: home, stdin: list }).ended;
  expect([code, JSON.parse(stdout)]).toEqual([0, { jsonrpc: "2.0", id: 1, result: {} }]);
});

test("a search without a key or CLI prints one message with the page that has keys, and stores no run (A3)", async () => {
  const { env, home } = openHome();
  for (const command of ["search", "deep-search", "deep-research"]) {
    const { code, stdout, stderr } = await startCommand([command, "What is a heat pump?"], { env, cwd: home }).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.match(/No Gemini API key found/g)).toHaveLength(1);
    expect(stderr).toContain("https://aistudio.google.com/apikey");
    expect(stderr).toContain("npm install -g @google/gemini-cli");
    expect(stderr.trim().split("\n")).toHaveLength(2);
  }
  const { stdout } = await startCommand(["list", "--json"], { env, cwd: home }).ended;
  expect(JSON.parse(stdout)).toEqual({ success: true, runs: [] });
});

test.skipIf(!hasDialogues)("at a terminal the message about a missing key has lines of its own (A3)", async () => {
  const { env, home } = openHome();
  const { seen } = await atTerminal('ask "What is a heat pump?"', { env, cwd: home });
  expect(seen.trim().split("\n")).toHaveLength(2);
});
