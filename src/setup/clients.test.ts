import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkHome, CLIENTS } from "./clients.ts";
import { launchesOf } from "./launch.ts";

const launch = { command: "gemini-search-mcp", args: [] };
const byName = <T>(of: (client: (typeof CLIENTS)[number]) => T): Record<string, T> =>
  Object.fromEntries(CLIENTS.map((client) => [client.name, of(client)]));
const files = (platform: NodeJS.Platform, environment: Record<string, string> = {}) =>
  byName((client) => client.file({ platform, home: "/h", project: "/p", environment }, "user"));

test("every client's file is known, on every platform", () => {
  expect(files("linux")).toEqual({
    "claude-code": "/h/.claude.json",
    "claude-desktop": "/h/.config/Claude/claude_desktop_config.json",
    cursor: "/h/.cursor/mcp.json",
    vscode: "/h/.config/Code/User/mcp.json",
    codex: "/h/.codex/config.toml",
    "gemini-cli": "/h/.gemini/settings.json",
    antigravity: "/h/.gemini/config/mcp_config.json",
    opencode: "/h/.config/opencode/opencode.json",
    windsurf: "/h/.codeium/windsurf/mcp_config.json",
    zed: "/h/.config/zed/settings.json",
    "lm-studio": "/h/.lmstudio/mcp.json",
  });
  expect(files("darwin")).toMatchObject({
    "claude-desktop": "/h/Library/Application Support/Claude/claude_desktop_config.json",
    vscode: "/h/Library/Application Support/Code/User/mcp.json",
    zed: "/h/.config/zed/settings.json",
    opencode: "/h/.config/opencode/opencode.json",
  });
  expect(files("win32", { APPDATA: "/r" })).toMatchObject({
    "claude-desktop": "/r/Claude/claude_desktop_config.json",
    vscode: "/r/Code/User/mcp.json",
    codex: "/h/.codex/config.toml",
    zed: undefined,
  });
  const moved = { XDG_CONFIG_HOME: "/x", CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/cc", GEMINI_CLI_HOME: "/g" };
  expect(files("linux", moved)).toMatchObject({
    "claude-code": "/cc/.claude.json",
    "claude-desktop": "/x/Claude/claude_desktop_config.json",
    vscode: "/x/Code/User/mcp.json",
    codex: "/c/config.toml",
    "gemini-cli": "/g/.gemini/settings.json",
    opencode: "/x/opencode/opencode.json",
    zed: "/x/zed/settings.json",
  });
  expect(files("linux", { XDG_CONFIG_HOME: "relative", CODEX_HOME: "" })).toEqual(files("linux"));
});

test("project files are in the project, for clients that have them", () => {
  const paths = { platform: "linux" as const, home: "/h", project: "/p", environment: {} };
  expect(byName((client) => client.file(paths, "project"))).toEqual({
    "claude-code": "/p/.mcp.json",
    "claude-desktop": undefined,
    cursor: "/p/.cursor/mcp.json",
    vscode: "/p/.vscode/mcp.json",
    codex: "/p/.codex/config.toml",
    "gemini-cli": "/p/.gemini/settings.json",
    antigravity: "/p/.agents/mcp_config.json",
    opencode: "/p/opencode.json",
    windsurf: undefined,
    zed: undefined,
    "lm-studio": undefined,
  });
});

test("each client passes the key on by reference, in its own syntax, with a long enough timeout", () => {
  expect(byName((client) => client.stdio(launch))).toEqual({
    "claude-code": { type: "stdio", ...launch, env: { GEMINI_API_KEY: "${GEMINI_API_KEY:-}" } },
    "claude-desktop": launch,
    cursor: { ...launch, env: { GEMINI_API_KEY: "${env:GEMINI_API_KEY}" } },
    vscode: { type: "stdio", ...launch, env: { GEMINI_API_KEY: "${env:GEMINI_API_KEY}" } },
    codex: { ...launch, env_vars: ["GEMINI_API_KEY"], tool_timeout_sec: 1_800 },
    "gemini-cli": { ...launch, env: { GEMINI_API_KEY: "$GEMINI_API_KEY" }, timeout: 1_800_000 },
    antigravity: launch,
    opencode: {
      type: "local",
      command: ["gemini-search-mcp"],
      environment: { GEMINI_API_KEY: "{env:GEMINI_API_KEY}" },
      enabled: true,
    },
    windsurf: { ...launch, env: { GEMINI_API_KEY: "${env:GEMINI_API_KEY}" } },
    zed: { ...launch, env: {} },
    "lm-studio": launch,
  });
});

test("a running server is referenced with its token by reference, or by value on request", () => {
  const url = "http://127.0.0.1:3000/mcp";
  expect(byName((client) => client.http?.({ url }))).toEqual({
    "claude-code": { type: "http", url, headers: { Authorization: "Bearer ${MCP_AUTH_TOKEN}" } },
    "claude-desktop": undefined,
    cursor: { url, headers: { Authorization: "Bearer ${env:MCP_AUTH_TOKEN}" } },
    vscode: { type: "http", url, headers: { Authorization: "Bearer ${env:MCP_AUTH_TOKEN}" } },
    codex: { url, bearer_token_env_var: "MCP_AUTH_TOKEN", tool_timeout_sec: 1_800 },
    "gemini-cli": { type: "http", url, headers: { Authorization: "Bearer $MCP_AUTH_TOKEN" }, timeout: 1_800_000 },
    antigravity: { serverUrl: url, headers: { Authorization: "Bearer $MCP_AUTH_TOKEN" } },
    opencode: {
      type: "remote",
      url,
      headers: { Authorization: "Bearer {env:MCP_AUTH_TOKEN}" },
      oauth: false,
      enabled: true,
    },
    windsurf: { serverUrl: url, headers: { Authorization: "Bearer ${env:MCP_AUTH_TOKEN}" } },
    zed: undefined,
    "lm-studio": undefined,
  });
  const codex = CLIENTS.find(({ name }) => name === "codex");
  expect(codex?.http?.({ url, token: "t" })).toEqual({
    url,
    http_headers: { Authorization: "Bearer t" },
    tool_timeout_sec: 1_800,
  });
});

test("an unknown home directory is reported, not guessed", () => {
  checkHome(() => "/h");
  expect(() => checkHome(() => "")).toThrow("user's home directory is unknown");
  const unknown = (): string => {
    throw new Error("ENOENT");
  };
  expect(() => checkHome(unknown)).toThrow("user's home directory is unknown");
});

test("a program that npx runs is started by npx, because its paths do not last", () => {
  const script = "/h/.npm/_npx/0a1b2c/node_modules/.bin/gemini-search-mcp";
  const environment = { PATH: "/h/.npm/_npx/0a1b2c/node_modules/.bin:/usr/bin" };
  const of = (platform: NodeJS.Platform) => launchesOf({ platform, environment, node: "/usr/bin/node", script });
  const args = ["-y", "gemini-search-mcp@latest"];
  expect(of("linux")).toEqual({ byName: { command: "npx", args }, byPath: undefined, onPath: true });
  expect(of("win32").byName).toEqual({ command: "cmd", args: ["/c", "npx", ...args] });
});

test("a program on PATH is started by its name, a checkout by its paths, on Windows always by paths", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gemini-search-launch-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [script, node, bin] = [join(base, "package.js"), join(base, "node-24.1"), join(base, "bin")];
  mkdirSync(bin);
  for (const file of [script, node]) {
    writeFileSync(file, "");
    chmodSync(file, 0o755);
  }
  symlinkSync(node, join(bin, "node"));
  const byPath = { command: join(bin, "node"), args: [script] };
  const of = (platform: NodeJS.Platform) => {
    const environment = { PATH: ["/nowhere", bin].join(platform === "win32" ? ";" : ":") };
    return launchesOf({ platform, environment, node, script });
  };
  expect(of("linux")).toEqual({ byName: byPath, byPath, onPath: false });
  symlinkSync(script, join(bin, "gemini-search-mcp"));
  expect(of("linux")).toEqual({ byName: launch, byPath, onPath: true });
  expect(of("win32").byName).toEqual(byPath);
  expect(launchesOf({ platform: "linux", environment: {}, node, script }).byName).toEqual({
    command: node,
    args: [script],
  });
});
