import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ErrorName } from "../../simulator/google-errors.ts";
import { openResearch, startRun } from "../kit/server/research.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { BIN } from "../kit/server/server.ts";

interface CheckResult {
  name: string;
  status: string;
  message: string;
  remedy?: string;
}

async function examine(scene: Pick<Scene, "command">, env: Record<string, string> = {}, args: string[] = []) {
  const { code, stdout } = await scene.command(["doctor", "--json", ...args], { env });
  const { healthy, checks } = JSON.parse(stdout) as { healthy: boolean; checks: CheckResult[] };
  return { code, healthy, of: (name: string) => checks.filter((check) => check.name === name) };
}

test("a sound installation passes every check, as text and as JSON", async (context) => {
  const scene = await openScene(context);
  await scene.command(["search", "What is a heat pump?"]);
  const { code, stdout, stderr } = await scene.command(["doctor"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  for (const name of ["node", "sqlite", "config directory", "disk", "database", "reachability", "key", "clock"]) {
    expect(stdout).toMatch(new RegExp(`^ok    ${name}: `, "m"));
  }
  expect(stdout).toContain("integrity ok");
  expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^(?:Everything works|Ready to use)/);
  // No model is called, and nothing is charged.
  expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1 });
  expect((await examine(scene)).healthy).toBe(true);
});

test("without CLI, key and network doctor names what is missing and what to do, and fails (A3)", async (context) => {
  const scene = await openScene(context);
  const nowhere = {
    PATH: "/nowhere",
    GEMINI_API_KEY: "",
    SEARCH_BACKEND: "auto",
    GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9",
  };
  const { code, healthy, of } = await examine(scene, nowhere);
  expect({ code, healthy }).toEqual({ code: 1, healthy: false });
  expect(of("gemini cli")).toMatchObject([
    { status: "fail", remedy: expect.stringContaining("npm install -g @google/gemini-cli") },
  ]);
  expect(of("reachability")).toMatchObject([{ status: "fail", message: "Can't reach 127.0.0.1:9." }]);
  // How to get a key was said above.
  expect(of("key")).toEqual([{ name: "key", status: "warn", message: "GEMINI_API_KEY is not set." }]);
  expect(of("notifications")).toMatchObject([{ status: "warn" }]);
  const { stdout } = await scene.command(["doctor"], { env: nowhere });
  expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^\d problems and \d warnings\. Fix what is marked "fail"/);
  const offline = await examine(scene, nowhere, ["--offline"]);
  expect(offline.of("reachability")).toEqual([]);
  expect(offline.of("key")).toMatchObject([{ status: "warn" }]);
  const withKey = await examine(scene, { GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9" }, ["--offline"]);
  expect(withKey.of("key")).toEqual([{ name: "key", status: "ok", message: "GEMINI_API_KEY is set; not tested." }]);
});

test("a key that Google refuses fails, and is nowhere in the output", async (context) => {
  const scene = await openScene(context, { name: "refused", refuses: "key-invalid" });
  const { code, stdout } = await scene.command(["doctor"]);
  expect(code).toBe(1);
  expect(stdout).toContain("rejects GEMINI_API_KEY");
  expect(stdout).not.toContain(scene.env["GEMINI_API_KEY"]);
});

test.for<[ErrorName, string, string]>([
  ["http-402", "The prepaid credits of the API key's billing account are used up.", "Add credits"],
  ["prepaid-429", "The prepaid credits of the API key's billing account are used up.", "Add credits"],
  ["location-unsupported", "Google does not offer the Gemini API at this server's location.", "HTTPS_PROXY"],
  ["two-credentials", "Google reports more than one credential in the request.", "proxy or gateway"],
])("what Google refuses for another reason than the key fails with its cause: %s (A6)", async (refusal, context) => {
  const [refuses, message, remedy] = refusal;
  const { code, of } = await examine(await openScene(context, { name: "refused", refuses }));
  expect(of("access")).toEqual([{ name: "access", status: "fail", message, remedy: expect.stringContaining(remedy) }]);
  expect([code, of("key")]).toEqual([1, []]);
});

test("a captive portal is not mistaken for Google, and the key is not sent to it (T9)", async (context) => {
  const scene = await openScene(context);
  const asked: (string | undefined)[] = [];
  const portal = createServer((request, response) => {
    asked.push(request.url);
    if (request.url === "/login") response.end("<html>Sign in</html>");
    else response.writeHead(302, { location: "/login" }).end();
  });
  await new Promise<void>((resolve) => void portal.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => void portal.close());
  const { port } = z.object({ port: z.number() }).parse(portal.address());
  const { of, healthy } = await examine(scene, { GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` });
  expect(healthy).toBe(false);
  expect(of("reachability")).toMatchObject([
    { status: "fail", message: expect.stringContaining("not the Gemini API") },
  ]);
  expect(of("key")).toEqual([]);
  expect(asked).toHaveLength(1);
});

test("a setting with a bad value, open modes and a damaged database are named (B1)", async (context) => {
  const scene = await openScene(context);
  await scene.command(["search", "What is a heat pump?"]);
  const file = join(scene.configDir, "deep_research.db");
  chmodSync(scene.configDir, 0o755);
  chmodSync(file, 0o644);
  const open = await examine(scene, { JSON_MAX_RETRIES: "many" });
  expect(open.of("settings")).toMatchObject([{ status: "warn", message: expect.stringContaining("JSON_MAX_RETRIES") }]);
  expect(open.of("config directory")).toMatchObject([{ status: "warn", remedy: `chmod 700 ${scene.configDir}` }]);
  expect(open.of("file modes")).toMatchObject([{ status: "warn", remedy: `chmod 600 ${file}` }]);
  for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
  writeFileSync(file, "this is not a database");
  const damaged = await examine(scene);
  expect(damaged.of("database")).toMatchObject([{ status: "fail" }]);
  expect(damaged.code).toBe(1);
});

test("a config directory that cannot be written fails (B5)", async (context) => {
  const scene = await openScene(context);
  const blocked = join(scene.configDir, "file");
  writeFileSync(blocked, "");
  const { of } = await examine(scene, { GEMINI_SEARCH_CONFIG_DIR: join(blocked, "config") });
  expect(of("config directory")).toMatchObject([
    { status: "fail", remedy: expect.stringContaining("GEMINI_SEARCH_CONFIG_DIR") },
  ]);
});

test("other processes and unknown starts are counted, and nothing is changed", async (context) => {
  const scene = await openResearch(context);
  const server = await scene.server();
  const taskId = await startRun(server);
  scene.sql("update research_tasks set status = 'start_unknown' where task_id = ?", taskId);
  const { of } = await examine(scene);
  expect(of("unknown starts")).toMatchObject([{ status: "warn", message: expect.stringMatching(/^1 /) }]);
  expect(of("other processes")).toMatchObject([{ message: expect.stringContaining(String(server.pid)) }]);
  expect(scene.sql("select status from research_tasks")).toEqual([{ status: "start_unknown" }]);
});

test("the CLI's version is read from its package, never by running it (C1)", async (context) => {
  const scene = await openScene(context);
  const folder = join(scene.configDir, "cli");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "@google/gemini-cli", version: "9.8.7" }));
  const ran = join(folder, "ran");
  writeFileSync(join(folder, "gemini"), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
  const { of } = await examine(scene, { PATH: `${folder}:${process.env["PATH"]}` });
  expect(of("gemini cli")).toMatchObject([{ status: "ok", message: expect.stringContaining("version 9.8.7") }]);
  expect(() => rmSync(ran)).toThrow();
});

test("assistants are listed with whether they are connected, and one that starts a missing program fails", async (context) => {
  const scene = await openScene(context);
  const at = (path: string): string => join(scene.configDir, path);
  const env = { PATH: `${at("bin")}:/nowhere` };
  expect((await examine(scene, env)).of("assistants")).toMatchObject([
    { status: "ok", message: "No AI assistant was found on this machine." },
  ]);
  mkdirSync(at("bin"));
  writeFileSync(at("bin/codex"), "#!/bin/sh\n", { mode: 0o755 });
  mkdirSync(at(".cursor"));
  expect((await examine(scene, env)).of("assistants")).toMatchObject([
    { status: "warn", message: "Not connected yet: Cursor, Codex.", remedy: "gemini-search-mcp init" },
  ]);
  const entry = (command: string, args: string[] = []): string =>
    JSON.stringify({ mcpServers: { other: { command: "x" }, "gemini-search": { command, args } } });
  writeFileSync(at(".cursor/mcp.json"), entry(process.execPath, [BIN]));
  expect((await examine(scene, env)).of("assistants")).toMatchObject([
    { status: "ok", message: expect.stringMatching(/^Connected: Cursor\. Not connected: Codex;/) },
  ]);
  // As `claude mcp add` writes it without --scope: for the working directory only.
  const local = { mcpServers: { mine: { command: process.execPath, args: [BIN] } } };
  writeFileSync(at(".claude.json"), JSON.stringify({ projects: { [process.cwd()]: local, "/elsewhere": {} } }));
  expect((await examine(scene, env)).of("assistants")).toMatchObject([
    { status: "ok", message: expect.stringMatching(/^Connected: Claude Code, Cursor\./) },
  ]);
  rmSync(at(".claude.json"));
  for (const [missing, text] of [
    ["gemini-search-mcp", entry("gemini-search-mcp")],
    ["/gone/gemini-search-mcp.js", entry(process.execPath, ["/gone/gemini-search-mcp.js"])],
  ] as const) {
    writeFileSync(at(".cursor/mcp.json"), text);
    const { code, of } = await examine(scene, env);
    expect([code, of("assistants")[1]]).toMatchObject([
      1,
      {
        status: "fail",
        message: expect.stringContaining(`Cursor starts ${missing}`),
        remedy: "gemini-search-mcp init cursor",
      },
    ]);
  }
});
