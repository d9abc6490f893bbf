/** The demo, which needs no key and leaves nothing behind, and the launcher on an old Node.js. */

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { atTerminal, CONTROL_C, hasDialogues } from "../kit/server/dialogue.ts";
import { processesNaming } from "../kit/server/processes.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { BIN, ROOT } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const QUERY = "How do heat pumps perform in cold climates?";
const SOON = { interval: 20 };

function ownTmp(scene: Scene): string {
  const directory = join(scene.configDir, "tmp");
  mkdirSync(directory);
  return directory;
}

describe.concurrent("demo", () => {
  test("runs a whole deep research without a key, says that Gemini is simulated, and leaves nothing", async (context) => {
    const scene = await openScene(context);
    const TMPDIR = ownTmp(scene);
    // A user's settings for the real product must not affect the demo.
    const settings = { GEMINI_SEARCH_TIMEOUT: "1000", GOOGLE_GENAI_USE_VERTEXAI: "true", SEARCH_BACKEND: "cli" };
    const proxy = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" };
    const { code, stdout, stderr } = await scene.command(["demo"], {
      env: { ...settings, ...proxy, GEMINI_API_KEY: "", TMPDIR },
      cwd: scene.configDir,
    });
    expect(code).toBe(0);
    // Lines come once a second, so any one of them may be missing.
    expect(stderr).toMatch(
      /Searching: .*heat pump|Looking for field measurements|Turning to cost|Outlining the report/,
    );
    expect(stdout).toMatch(/^Demo {2}How well do air-source heat pumps work in cold climates\?\nGemini is simulated/);
    expect(stdout).toContain("Efficiency by outdoor temperature");
    // No language but English, and no source that could exist.
    expect(stdout).not.toMatch(/[\u3040-\u9fff]|Überdies|Öffentliche|Évolution/u);
    expect(stderr).toMatch(/That was simulated, and its data is deleted\. .*https:\/\/aistudio\.google\.com\/apikey/);
    const saved = readdirSync(join(scene.configDir, "research_reports"), { recursive: true, encoding: "utf8" });
    const file = saved.find((name) => name.endsWith(".md")) ?? "";
    expect(stdout).toContain(`Saved: ${join("research_reports", file)}`);
    expect(readFileSync(join(scene.configDir, "research_reports", file), "utf8")).toContain("## Executive summary");
    // It has its own simulated Gemini.
    expect(scene.gemini.ledger.count()).toBe(0);
    expect(readdirSync(TMPDIR)).toEqual([]);
    await waitFor(() => expect(processesNaming(TMPDIR)).toEqual([]), SOON);
  });

  test("leaves nothing when it is interrupted either, exit 130", async (context) => {
    const scene = await openScene(context);
    const TMPDIR = ownTmp(scene);
    const { child, stderr, ended } = scene.startCommand(["demo"], { env: { TMPDIR } });
    await waitFor(() => expect(stderr()).toContain("Starting deep research"), SOON);
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain("{");
    expect(stderr()).toContain("Demo stopped. Nothing was charged, and nothing is left running.");
    expect(stderr()).not.toContain("watch");
    expect(readdirSync(TMPDIR)).toEqual([]);
    await waitFor(() => expect(processesNaming(TMPDIR)).toEqual([]), SOON);
  });

  test("answers a question of the user's own, in English", async (context) => {
    const scene = await openScene(context);
    const question = "Which bread keeps longest?";
    const { code, stdout } = await scene.command(["demo", ...question.split(" ")], {
      env: { TMPDIR: ownTmp(scene) },
      cwd: scene.configDir,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining("# Which bread keeps longest")]);
    expect(stdout).not.toContain("heat pump");
    expect(stdout).not.toMatch(/[\u3040-\u9fff]|Überdies|Öffentliche|Évolution/u);
  });
});

describe.skipIf(!hasDialogues)("demo at a terminal", () => {
  const LINK = /http:\/\/127\.0\.0\.1:\d+\/enter\/[\w-]{43}\?to=%2Fruns%2F[\w-]{36}/;

  test("ends on the dashboard, which it serves until Ctrl-C, exit 0", async (context) => {
    const scene = await openScene(context);
    const TMPDIR = ownTmp(scene);
    const { code, seen } = await atTerminal("demo", {
      env: { ...scene.env, TMPDIR },
      cwd: scene.configDir,
      dialogue: [["(no display). Open the link above.", CONTROL_C]],
    });
    // Commands could not continue with a run that is deleted at the end.
    expect(seen).not.toContain("gemini-search-mcp save");
    expect(code).toBe(0);
    expect(seen).toMatch(LINK);
    expect(seen).not.toContain("[INFO]");
    expect(seen.replaceAll(/\s+/g, " ").trimEnd()).toMatch(
      / That was simulated, and its data is deleted\. For the real thing: .*gemini-search-mcp init$/,
    );
    expect(readdirSync(TMPDIR)).toEqual([]);
    await waitFor(() => expect(processesNaming(TMPDIR)).toEqual([]), SOON);
  });

  test("Ctrl-C during the research ends everything and says so, exit 130", async (context) => {
    const scene = await openScene(context);
    const TMPDIR = ownTmp(scene);
    const { code, seen } = await atTerminal("demo", {
      env: { ...scene.env, TMPDIR },
      cwd: scene.configDir,
      dialogue: [["Looking for field measurements", CONTROL_C]],
    });
    expect(code).toBe(130);
    expect(seen.trimEnd().split("\n").at(-1)).toBe("Demo stopped. Nothing was charged, and nothing is left running.");
    expect(seen).not.toContain("gemini-search-mcp watch");
    expect(readdirSync(TMPDIR)).toEqual([]);
    await waitFor(() => expect(processesNaming(TMPDIR)).toEqual([]), SOON);
  });
});

/** A Node on this machine that the product does not support. */
function oldNode(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/bin", "/usr/bin"];
  return folders
    .map((folder) => join(folder, "node"))
    .filter((path) => existsSync(path))
    .find((path) => Number(/^v(\d+)/.exec(execFileSync(path, ["--version"], { encoding: "utf8" }))?.[1]) < 22);
}

const node = oldNode();

test("the launcher of a clone that is not built says so in one line (A2)", async (context) => {
  const scene = await openScene(context);
  const launcher = join(scene.configDir, "clone", "bin", "gemini-search-mcp.mjs");
  cpSync(BIN, launcher);
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, "list"], { encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([1, "", "[ERROR] Not built yet: run npm run build.\n"]);
});

test("a start keeps its compiled code for the next one in the config directory, where only the user can write (B5)", async (context) => {
  const scene = await openScene(context);
  const configDir = join(scene.configDir, "own");
  // Tests keep compiled code elsewhere.
  const env = { GEMINI_SEARCH_CONFIG_DIR: configDir, NODE_COMPILE_CACHE: "" };
  expect((await scene.command(["--version"], { env })).code).toBe(0);
  expect(existsSync(configDir)).toBe(false);
  mkdirSync(configDir);
  chmodSync(configDir, 0o777);
  expect((await scene.command(["--version"], { env })).code).toBe(0);
  expect(readdirSync(configDir)).toEqual([]);
  chmodSync(configDir, 0o700);
  // Nor what other users could have written before.
  const compiled = join(configDir, "compile-cache");
  mkdirSync(compiled);
  chmodSync(compiled, 0o777);
  expect((await scene.command(["--version"], { env })).code).toBe(0);
  expect(readdirSync(compiled)).toEqual([]);
  chmodSync(compiled, 0o700);
  expect((await scene.command(["--version"], { env })).code).toBe(0);
  const kept = readdirSync(compiled, { recursive: true, withFileTypes: true });
  expect(kept.filter((entry) => entry.isFile()).length).toBeGreaterThan(0);
});

describe.skipIf(node === undefined).concurrent("the launcher on an old Node (skipped where there is none)", () => {
  test("re-runs itself with the pinned Node: arguments, stdin, stdout and exit code are passed on", async (context) => {
    const scene = await openScene(context);
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(await scene.command(["--version"], { node })).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const answered = await scene.command(["search", "-", "--json"], { node, stdin: QUERY });
    expect(answered.code).toBe(0);
    expect(JSON.parse(answered.stdout)).toMatchObject({ success: true, metadata: { query: QUERY } });
    expect((await scene.command(["search", "?!"], { node })).code).toBe(2);
  });

  test("forwards signals", async (context) => {
    const scene = await openScene(context, { name: "hangs", tasks: { search: [{ fault: "hang" }] } });
    const { child, ended } = scene.startCommand(["search", QUERY], { node });
    await waitFor(() => expect(scene.gemini.ledger.count()).toBe(1), SOON);
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
  });
});
