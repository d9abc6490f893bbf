/** `init` at a terminal: it asks which clients and shows every change before it is written. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { BIN, isolatedEnvironment, temporaryDirectory } from "../support/server.ts";

/** It gives a command a terminal; that of other systems is called differently. */
const SCRIPT = "/usr/bin/script";
const canAsk = process.platform === "linux" && existsSync(SCRIPT);

const ENTER = "\r";
const CONTROL_C = "\u0003";

/** Each answer is typed when its question has appeared. */
async function answer(home: string, dialogue: [question: string, typed: string][]) {
  const command = `stty cols 120 rows 40; exec '${process.execPath}' '${BIN}' init`;
  const child = spawn(SCRIPT, ["-qec", command, "/dev/null"], {
    env: { ...isolatedEnvironment(join(home, "ours")), HOME: home, TERM: "xterm" },
    cwd: home,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let seen = "";
  let read = 0;
  const rest = [...dialogue];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    seen += stripVTControlCharacters(text);
    const [next] = rest;
    const found = next === undefined ? -1 : seen.indexOf(next[0], read);
    if (next === undefined || found === -1) return;
    rest.shift();
    read = found + next[0].length;
    child.stdin.write(next[1]);
  });
  const [code]: unknown[] = await once(child, "close");
  return { code, seen };
}

function openHome(): string {
  const home = temporaryDirectory();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const folder of [".codex", ".gemini", "ours"]) mkdirSync(join(home, folder));
  writeFileSync(join(home, ".codex/config.toml"), 'model = "x"\n');
  writeFileSync(join(home, ".gemini/settings.json"), '{"mcpServers":{"gemini-search":{"command":"another"}}}');
  return home;
}

test.skipIf(!canAsk)("clients are chosen, a change is shown and written at a yes", async () => {
  const home = openHome();
  const { code, seen } = await answer(home, [
    ["Enter: confirm", ENTER],
    ["Codex: write this change?", ENTER],
  ]);
  expect(code).toBe(0);
  expect(seen).toContain("Codex (not configured)");
  expect(seen).toContain("Gemini CLI (name taken)");
  expect(seen.indexOf("+[mcp_servers.gemini-search]")).toBeLessThan(seen.indexOf("write this change?"));
  expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toContain("[mcp_servers.gemini-search]");
  // What is not ours is not proposed.
  expect(readFileSync(join(home, ".gemini/settings.json"), "utf8")).toContain("another");
});

test.skipIf(!canAsk)("a no leaves the file as it is; Ctrl-C leaves, with exit 130", async () => {
  const home = openHome();
  const declined = await answer(home, [
    ["Enter: confirm", ENTER],
    ["Codex: write this change?", "n"],
  ]);
  expect([declined.code, declined.seen]).toEqual([0, expect.stringContaining("Codex: left as it is")]);
  const left = await answer(home, [
    ["Enter: confirm", ENTER],
    ["Codex: write this change?", CONTROL_C],
  ]);
  expect(left.code).toBe(130);
  expect((await answer(home, [["Enter: confirm", CONTROL_C]])).code).toBe(130);
  expect(readdirSync(join(home, ".codex"))).toEqual(["config.toml"]);
  expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toBe('model = "x"\n');
});
