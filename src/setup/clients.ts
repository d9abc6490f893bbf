/** The supported MCP clients: what `init` must know about each, and which of them are installed. */

import { dirname, isAbsolute, join } from "node:path";
import { existsSync } from "node:fs";
import type { Entry } from "./entry-format.ts";
import type { Launch } from "./launch.ts";
import { userConfigFolder, type UserFolders } from "../platform/user-config-folder.ts";
import { findProgram } from "../platform/find-program.ts";
import { invalidInput } from "../errors.ts";

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
  /** Undefined if the client has no such scope, or if its file could not be verified. */
  file(paths: Paths, scope: Scope): string | undefined;
  /** The client is installed if one of these paths exists or one of its programs is on PATH. */
  traces(paths: Paths): string[];
  programs: readonly string[];
  /** The client is not started from a shell, so its PATH may lack our command. */
  withoutShell?: boolean;
  stdio(launch: Launch): Entry;
  /** The table of an entry with the variables of the server; `env` if undefined. */
  variables?: string;
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
export const CONFIG_VARIABLE = "GEMINI_SEARCH_CONFIG_DIR";
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

/** https://docs.windsurf.com/windsurf/cascade/mcp, read 2026-11-16: variables are interpolated in env, URL and headers. */
const windsurf: Client = {
  name: "windsurf",
  title: "Windsurf",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) => (scope === "user" ? join(paths.home, ".codeium", "windsurf", "mcp_config.json") : undefined),
  traces: (paths) => [join(paths.home, ".codeium", "windsurf")],
  programs: ["windsurf"],
  stdio: ({ command, args }) => ({ command, args, env: { [KEY_VARIABLE]: `\${env:${KEY_VARIABLE}}` } }),
  http: (server) => ({ serverUrl: server.url, headers: bearer(server, `\${env:${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: "Windsurf Settings > Cascade > MCP Servers",
};

/** On macOS, too, but not on Windows, for which its documents name no path. */
const zedFolder = (paths: Paths): string | undefined =>
  paths.platform === "win32"
    ? undefined
    : join(
        paths.platform === "linux"
          ? overridableFolder(paths, "XDG_CONFIG_HOME", join(paths.home, ".config"))
          : join(paths.home, ".config"),
        "zed",
      );

/** https://zed.dev/docs/ai/mcp and /docs/configuring-zed, read 2026-11-16: no references to variables. */
const zed: Client = {
  name: "zed",
  title: "Zed",
  format: "json",
  container: "context_servers",
  file: (paths, scope) => {
    const folder = zedFolder(paths);
    return scope === "user" && folder !== undefined ? join(folder, "settings.json") : undefined;
  },
  traces: (paths) => [zedFolder(paths)].filter((folder) => folder !== undefined),
  programs: ["zed"],
  withoutShell: true,
  stdio: ({ command, args }) => ({ command, args, env: {} }),
  passesKey: false,
  check: "Settings > AI > MCP Servers in Zed",
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
  hint: "If it runs as a daemon, choose Restart in /daemon: the daemon keeps the key of its first start",
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

/**
 * The project's file: Google's migration guide (docs/resources/migrating-to-antigravity-cli.md of google-gemini/gemini-cli,
 * 2026-05-19). The user's file: vendors' guides and installers since 2026-06; older versions of agy read
 * ~/.gemini/antigravity-cli/mcp_config.json.
 */
const antigravity: Client = {
  name: "antigravity",
  title: "Antigravity CLI",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) =>
    scope === "project"
      ? join(paths.project, ".agents", "mcp_config.json")
      : join(paths.home, ".gemini", "config", "mcp_config.json"),
  traces: (paths) => [
    join(paths.home, ".gemini", "antigravity-cli"),
    join(paths.home, ".gemini", "config", "mcp_config.json"),
  ],
  programs: ["agy"],
  stdio: ({ command, args }) => ({ command, args }),
  http: (server) => ({ serverUrl: server.url, headers: bearer(server, `$${TOKEN_VARIABLE}`) }),
  passesKey: false,
  check: "/mcp in agy",
};

/** XDG on every platform. */
const folder = (paths: Paths): string =>
  join(overridableFolder(paths, "XDG_CONFIG_HOME", join(paths.home, ".config")), "opencode");

/** https://opencode.ai/docs/mcp-servers, tried with opencode-ai 1.18.33: an unset variable becomes empty. */
const openCode: Client = {
  name: "opencode",
  title: "OpenCode",
  format: "json",
  container: "mcp",
  file: (paths, scope) => join(scope === "project" ? paths.project : folder(paths), "opencode.json"),
  traces: (paths) => [folder(paths)],
  programs: ["opencode"],
  stdio: ({ command, args }) => ({
    type: "local",
    command: [command, ...args],
    environment: { [KEY_VARIABLE]: `{env:${KEY_VARIABLE}}` },
    enabled: true,
  }),
  variables: "environment",
  http: (server) => ({
    type: "remote",
    url: server.url,
    headers: bearer(server, `{env:${TOKEN_VARIABLE}}`),
    oauth: false,
    enabled: true,
  }),
  passesKey: true,
  check: "opencode mcp list",
  hint: 'It asks before no tool. To be asked before each deep research, add to opencode.json: "permission": { "*_start_deep_research": "ask" }',
};

/** https://lmstudio.ai/docs/app/mcp, read 2026-11-16: Cursor's notation, but no word of references to variables. */
const lmStudio: Client = {
  name: "lm-studio",
  title: "LM Studio",
  format: "json",
  container: "mcpServers",
  file: (paths, scope) => (scope === "user" ? join(paths.home, ".lmstudio", "mcp.json") : undefined),
  traces: (paths) => [join(paths.home, ".lmstudio")],
  programs: ["lms"],
  withoutShell: true,
  stdio: ({ command, args }) => ({ command, args }),
  passesKey: false,
  check: "the Program tab in LM Studio",
};

export const CLIENTS: readonly Client[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  codex,
  geminiCli,
  antigravity,
  openCode,
  windsurf,
  zed,
  lmStudio,
];

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

export interface Paths extends UserFolders {
  /** The folder of project files. */
  project: string;
}

/** Fails early: with a relative home, files would be written relative to the working directory. */
export function checkHome(find: () => string): void {
  let home = "";
  try {
    home = find();
  } catch {
    // The system has no record of the user, and HOME is not set.
  }
  if (isAbsolute(home)) return;
  throw invalidInput("This user's home directory is unknown, so the clients' files cannot be found.", {
    suggestion: "Set HOME to it and run init again.",
  });
}

/** A folder that a client lets its user override with a variable. */
function overridableFolder({ environment }: Paths, variable: string, defaultFolder: string): string {
  const override = environment[variable]?.trim();
  return override !== undefined && isAbsolute(override) ? override : defaultFolder;
}
