/**
 * The supported MCP clients: where each keeps its configuration, the format of an entry, and how it references secrets.
 */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "./entry-format.ts";
import type { Launch } from "./launch.ts";
import { findProgram } from "../platform/find-program.ts";
import { userConfigFolder } from "../platform/user-config-folder.ts";
import { overridableFolder, type Paths } from "./paths.ts";

export type Scope = "user" | "project";

/** A server that is already running. */
interface RunningServer {
  url: string;
  /** Only if the user asked to write its value; otherwise the client reads TOKEN_VARIABLE. */
  token?: string | undefined;
}

export interface Client {
  name: string;
  title: string;
  format: "json" | "toml";
  /** The table that holds all servers. */
  container: string;
  /** A table of the user's file that has another container for each project path. */
  projects?: string;
  /** Undefined if the client has no such scope. */
  file(paths: Paths, scope: Scope): string | undefined;
  /** The client is installed if one of these paths exists or one of its programs is on PATH. */
  traces(paths: Paths): string[];
  programs: readonly string[];
  /** The client is not started from a shell, so its PATH may lack our command. */
  withoutShell?: boolean;
  stdio(launch: Launch): Entry;
  /** Missing if the client's file supports commands only. */
  http?(server: RunningServer): Entry;
  /** Passes the key on from its own environment. */
  passesKey: boolean;
  /** How the user sees that the client has the server. */
  check: string;
  /** What the user has to do besides restarting it. */
  hint?: string;
}

export const KEY_VARIABLE = "GEMINI_API_KEY";
export const TOKEN_VARIABLE = "MCP_AUTH_TOKEN";

/** Long enough for a deep_search of many rounds; some clients cut a call off after a minute. */
const TOOL_TIMEOUT_SECONDS = 1_800;

const bearer = ({ token }: RunningServer, reference: string): Entry => ({
  Authorization: `Bearer ${token ?? reference}`,
});

/** https://code.claude.com/docs/en/mcp: its default limit on a tool call is longer than ours. */
const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  format: "json",
  container: "mcpServers",
  // Where `claude mcp add` writes without --scope.
  projects: "projects",
  file: (paths, scope) =>
    scope === "project"
      ? join(paths.project, ".mcp.json")
      : join(overridableFolder(paths, "CLAUDE_CONFIG_DIR", paths.home), ".claude.json"),
  traces: (paths) => [
    join(overridableFolder(paths, "CLAUDE_CONFIG_DIR", paths.home), ".claude.json"),
    join(paths.home, ".claude"),
  ],
  programs: ["claude"],
  // The empty default makes an unset variable empty; without it the server would receive the reference itself.
  stdio: ({ command, args }) => ({ type: "stdio", command, args, env: { [KEY_VARIABLE]: `\${${KEY_VARIABLE}:-}` } }),
  http: (server) => ({ type: "http", url: server.url, headers: bearer(server, `\${${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: "claude mcp list",
};

const claudeDesktopFile = (paths: Paths): string =>
  join(userConfigFolder(paths), "Claude", "claude_desktop_config.json");

/** https://modelcontextprotocol.io/docs/develop/connect-local-servers: no references, no shell, no URLs. */
const claudeDesktop: Client = {
  name: "claude-desktop",
  title: "Claude Desktop",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) => (scope === "user" ? claudeDesktopFile(paths) : undefined),
  traces: (paths) => [dirname(claudeDesktopFile(paths))],
  programs: [],
  withoutShell: true,
  stdio: ({ command, args }) => ({ command, args }),
  passesKey: false,
  check: "Settings > Developer in Claude Desktop",
};

/** https://cursor.com/docs/mcp */
const cursor: Client = {
  name: "cursor",
  title: "Cursor",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) => join(scope === "project" ? paths.project : paths.home, ".cursor", "mcp.json"),
  traces: (paths) => [join(paths.home, ".cursor")],
  programs: ["cursor", "cursor-agent"],
  stdio: ({ command, args }) => ({ command, args, env: { [KEY_VARIABLE]: `\${env:${KEY_VARIABLE}}` } }),
  http: (server) => ({ url: server.url, headers: bearer(server, `\${env:${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: "Settings > Tools & MCP in Cursor",
};

const codeFolder = (paths: Paths): string => join(userConfigFolder(paths), "Code", "User");

/**
 * https://code.visualstudio.com/docs/agents/reference/mcp-configuration. Not `inputs`: servers that use one are not
 * available to all of its agents.
 */
const vscode: Client = {
  name: "vscode",
  title: "VS Code",
  format: "json",
  container: "servers",
  file: (paths, scope) =>
    scope === "project" ? join(paths.project, ".vscode", "mcp.json") : join(codeFolder(paths), "mcp.json"),
  traces: (paths) => [codeFolder(paths)],
  programs: ["code"],
  stdio: ({ command, args }) => ({
    type: "stdio",
    command,
    args,
    env: { [KEY_VARIABLE]: `\${env:${KEY_VARIABLE}}` },
  }),
  http: (server) => ({ type: "http", url: server.url, headers: bearer(server, `\${env:${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: 'the command "MCP: List Servers" in VS Code',
};

/** https://developers.openai.com/codex/mcp: only named variables are passed on. */
const codex: Client = {
  name: "codex",
  title: "Codex",
  format: "toml",
  container: "mcp_servers",
  file: (paths, scope) =>
    scope === "project"
      ? join(paths.project, ".codex", "config.toml")
      : join(overridableFolder(paths, "CODEX_HOME", join(paths.home, ".codex")), "config.toml"),
  traces: (paths) => [overridableFolder(paths, "CODEX_HOME", join(paths.home, ".codex"))],
  programs: ["codex"],
  stdio: ({ command, args }) => ({ command, args, env_vars: [KEY_VARIABLE], tool_timeout_sec: TOOL_TIMEOUT_SECONDS }),
  http: (server) => ({
    url: server.url,
    ...(server.token === undefined ? { bearer_token_env_var: TOKEN_VARIABLE } : { http_headers: bearer(server, "") }),
    tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
  }),
  passesKey: true,
  check: "codex mcp list",
};

/** https://geminicli.com/docs/tools/mcp-server: keys are not passed to servers unless named. */
const geminiCli: Client = {
  name: "gemini-cli",
  title: "Gemini CLI",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) =>
    join(
      scope === "project" ? paths.project : overridableFolder(paths, "GEMINI_CLI_HOME", paths.home),
      ".gemini",
      "settings.json",
    ),
  traces: (paths) => [join(overridableFolder(paths, "GEMINI_CLI_HOME", paths.home), ".gemini")],
  programs: ["gemini"],
  stdio: ({ command, args }) => ({
    command,
    args,
    env: { [KEY_VARIABLE]: `$${KEY_VARIABLE}` },
    timeout: TOOL_TIMEOUT_SECONDS * 1_000,
  }),
  http: (server) => ({
    type: "http",
    url: server.url,
    headers: bearer(server, `$${TOKEN_VARIABLE}`),
    timeout: TOOL_TIMEOUT_SECONDS * 1_000,
  }),
  passesKey: true,
  check: "gemini mcp list",
  // Elsewhere `gemini mcp list` shows every server as disabled.
  hint: "It uses MCP servers in trusted folders only: start gemini in your project and choose “Trust folder”.",
};

export const CLIENTS: readonly Client[] = [claudeCode, claudeDesktop, cursor, vscode, codex, geminiCli];

/** The suffixes with which Windows starts a program by its name. */
const SUFFIXES = { win32: [".exe", ".cmd", ".bat"] } as Partial<Record<NodeJS.Platform, string[]>>;

/** The path of a program that a user can start by this name. */
export const programOnPath = (name: string, { environment, platform }: Paths): string | undefined =>
  (SUFFIXES[platform] ?? [""])
    .map((suffix) => findProgram(name + suffix, environment, platform))
    .find((file) => file !== undefined);

export const installedClients = (paths: Paths): Client[] =>
  CLIENTS.filter(
    ({ traces, programs }) =>
      traces(paths).some((trace) => existsSync(trace)) ||
      programs.some((program) => programOnPath(program, paths) !== undefined),
  );
