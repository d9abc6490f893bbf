/** `init` at a terminal: it asks which clients and shows every change before it is written. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { BIN, isolatedEnvironment, temporaryDirectory } from "../kit/server/server.ts";

/** It gives a command a terminal; that of other systems is called differently. */
const SCRIPT = "/usr/bin/script";
const canAsk = process.platform === "linux" && existsSync(SCRIPT);

const ENTER = "\r";
const CONTROL_C = "\u0003";
const DOWN = "\u001B[B";

const ASKED = "May Google's redirect links in sources be resolved";

/** Each answer is typed when its question has appeared. */
async function answer(home: string, dialogue: [question: string, typed: string][], { args = "", env = {} } = {}) {
  const command = `stty cols 120 rows 40; exec '${process.execPath}' '${BIN}' init ${args}`;
  const child = spawn(SCRIPT, ["-qec", command, "/dev/null"], {
    env: { ...isolatedEnvironment(join(home, "ours")), HOME: home, TERM: "xterm", ...env },
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

test.skipIf(!canAsk)("clients are chosen, and a change is shown and written after a yes", async () => {
  const home = openHome();
  const { code, seen } = await answer(home, [
    ["Enter: confirm", ENTER],
    ["Codex: write this change?", ENTER],
    ["Ask me next time", ENTER],
  ]);
  expect(code).toBe(0);
  expect(seen).toContain("Codex (not configured)");
  expect(seen).toContain("Gemini CLI (name taken)");
  expect(seen.indexOf("+[mcp_servers.gemini-search]")).toBeLessThan(seen.indexOf("write this change?"));
  expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toContain("[mcp_servers.gemini-search]");
  // What is not ours is not proposed.
  expect(readFileSync(join(home, ".gemini/settings.json"), "utf8")).toContain("another");
});

test.skipIf(!canAsk)("a no leaves the file unchanged; Ctrl-C exits with 130", async () => {
  const home = openHome();
  const declined = await answer(home, [
    ["Enter: confirm", ENTER],
    ["Codex: write this change?", "n"],
    ["Ask me next time", DOWN + DOWN + ENTER],
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

const WRITTEN = ["Codex: write this change?", ENTER] as [string, string];
const ourConfig = (home: string): string => join(home, "ours/config.json");

test.skipIf(!canAsk)(
  "the question whether to resolve redirect links is asked once; Enter means no and is stored (T-3)",
  async () => {
    const home = openHome();
    const first = await answer(home, [["Enter: confirm", ENTER], WRITTEN, ["Ask me next time", ENTER]]);
    expect(first.code).toBe(0);
    expect(first.seen).toContain("because Google's terms leave this to you: docs/google-terms.md");
    expect(first.seen).toContain("Google's redirect links are kept as they are");
    expect(JSON.parse(readFileSync(ourConfig(home), "utf8"))).toEqual({ RESOLVE_SOURCE_LINKS: false });
    expect(statSync(ourConfig(home)).mode & 0o777).toBe(0o600);
    const second = await answer(home, [["Enter: confirm", ENTER]]);
    expect([second.code, second.seen]).toEqual([0, expect.not.stringContaining(ASKED)]);
  },
);

test.skipIf(!canAsk)(
  "a yes keeps comments and other keys of config.json, and applies to the next process (T-3)",
  async () => {
    const home = openHome();
    const before = '{\n  // mine\n  "GEMINI_MODEL": "mine", // and this\n  "NOT_OURS": { "a": [1] }\n}\n';
    writeFileSync(ourConfig(home), before);
    const { code, seen } = await answer(home, [["Enter: confirm", ENTER], WRITTEN, ["Ask me next time", DOWN + ENTER]]);
    expect([code, seen]).toEqual([0, expect.stringContaining("Google's redirect links are resolved")]);
    // The last comma belongs to what stood last; the rest is as it was.
    expect(readFileSync(ourConfig(home), "utf8")).toBe(
      before.replace("] }\n}", '] },\n  "RESOLVE_SOURCE_LINKS": true\n}'),
    );
    // It may hold a key: no copy of it is left behind.
    expect(readdirSync(join(home, "ours")).filter((name) => name.includes("config.json"))).toEqual(["config.json"]);
    const doctor = spawnSync(process.execPath, [BIN, "doctor", "--json"], {
      env: { ...isolatedEnvironment(join(home, "ours")), HOME: home },
      encoding: "utf8",
    });
    expect(doctor.stdout).toContain("Google's redirect links are resolved once");
  },
);

test.skipIf(!canAsk)(
  "the question about links can be postponed, and is not asked of scripts or once answered (T-3)",
  async () => {
    const home = openHome();
    const later = await answer(home, [["Enter: confirm", ENTER], WRITTEN, ["Ask me next time", DOWN + DOWN + ENTER]]);
    expect([later.code, existsSync(ourConfig(home))]).toEqual([0, false]);
    const left = await answer(home, [
      ["Enter: confirm", ENTER],
      ["Ask me next time", CONTROL_C],
    ]);
    expect([left.code, existsSync(ourConfig(home))]).toEqual([130, false]);
    const cases = [
      { args: "--yes codex" },
      { args: "--dry-run codex" },
      { args: "--remove codex", dialogue: [WRITTEN] },
      { args: "codex", dialogue: [WRITTEN], env: { RESOLVE_SOURCE_LINKS: "false" } },
    ];
    for (const { args, env = {}, dialogue = [] } of cases) {
      const { code, seen } = await answer(home, dialogue, { args, env });
      expect([args, code, seen]).toEqual([args, 0, expect.not.stringContaining(ASKED)]);
    }
    expect(existsSync(ourConfig(home))).toBe(false);
  },
);

test.skipIf(!canAsk)("a config.json that cannot be read is left unchanged, and init says so (T-3, B1)", async () => {
  const home = openHome();
  writeFileSync(ourConfig(home), '{ "GEMINI_MODEL": ');
  const { code, seen } = await answer(home, [["Enter: confirm", ENTER], WRITTEN]);
  expect([code, seen]).toEqual([0, expect.stringContaining("RESOLVE_SOURCE_LINKS could not be saved")]);
  expect(readFileSync(ourConfig(home), "utf8")).toBe('{ "GEMINI_MODEL": ');
});
