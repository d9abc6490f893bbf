/** The clients as data: where each keeps its servers, how it writes one, how it takes a secret without holding it. */

import { dirname, join } from "node:path";
import type { Entry } from "./entry-format.ts";
import type { Launch } from "./launch.ts";
import { movable, type Place, settingsFolder } from "./place.ts";

export type Scope = "user" | "project";

/** A server that already runs. */
interface Address {
  url: string;
  /** Only where the user asked for its value to be written; else the client looks it up under TOKEN_VARIABLE. */
  token?: string | undefined;
}

export interface Client {
  name: string;
  title: string;
  format: "json" | "toml";
  /** The table that holds all servers. */
  container: string;
  /** Undefined: it knows no such scope. */
  file(place: Place, scope: Scope): string | undefined;
  /** If one of them exists, the client is here. */
  traces(place: Place): string[];
  /** Its programs are not started from a shell, so PATH may lack ours. */
  withoutShell?: boolean;
  stdio(launch: Launch): Entry;
  /** Missing: its file takes commands only. */
  http?(address: Address): Entry;
  /** Passes the key on from its own environment. */
  passesKey: boolean;
  check: string;
}

export const KEY_VARIABLE = "GEMINI_API_KEY";
export const TOKEN_VARIABLE = "MCP_AUTH_TOKEN";

/** A deep_search of many rounds is done by then; clients that cut a call off at a minute would lose it. */
const PATIENCE_SECONDS = 1_800;

const bearer = ({ token }: Address, reference: string): Entry => ({ Authorization: `Bearer ${token ?? reference}` });

/** https://code.claude.com/docs/en/mcp: its own limit on a tool call is longer than ours. */
const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  format: "json",
  container: "mcpServers",
  file: (place, scope) =>
    scope === "project"
      ? join(place.project, ".mcp.json")
      : join(movable(place, "CLAUDE_CONFIG_DIR", place.home), ".claude.json"),
  traces: (place) => [
    join(movable(place, "CLAUDE_CONFIG_DIR", place.home), ".claude.json"),
    join(place.home, ".claude"),
  ],
  // With the empty default an unset variable is empty; without it the server would be given the reference itself.
  stdio: ({ command, args }) => ({ type: "stdio", command, args, env: { [KEY_VARIABLE]: `\${${KEY_VARIABLE}:-}` } }),
  http: (address) => ({ type: "http", url: address.url, headers: bearer(address, `\${${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: "claude mcp list",
};

const claudeDesktopFile = (place: Place): string => join(settingsFolder(place), "Claude", "claude_desktop_config.json");

/** https://modelcontextprotocol.io/docs/develop/connect-local-servers: no references, no shell, no addresses. */
const claudeDesktop: Client = {
  name: "claude-desktop",
  title: "Claude Desktop",
  format: "json",
  container: "mcpServers",
  file: (place, scope) => (scope === "user" ? claudeDesktopFile(place) : undefined),
  traces: (place) => [dirname(claudeDesktopFile(place))],
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
  file: (place, scope) => join(scope === "project" ? place.project : place.home, ".cursor", "mcp.json"),
  traces: (place) => [join(place.home, ".cursor")],
  stdio: ({ command, args }) => ({ command, args, env: { [KEY_VARIABLE]: `\${env:${KEY_VARIABLE}}` } }),
  http: (address) => ({ url: address.url, headers: bearer(address, `\${env:${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: "Settings > Tools & MCP in Cursor",
};

const codeFolder = (place: Place): string => join(settingsFolder(place), "Code", "User");

/**
 * https://code.visualstudio.com/docs/agents/reference/mcp-configuration. Not `inputs`: servers that ask for one are not
 * handed on to all of its agents.
 */
const vscode: Client = {
  name: "vscode",
  title: "VS Code",
  format: "json",
  container: "servers",
  file: (place, scope) =>
    scope === "project" ? join(place.project, ".vscode", "mcp.json") : join(codeFolder(place), "mcp.json"),
  traces: (place) => [codeFolder(place)],
  stdio: ({ command, args }) => ({
    type: "stdio",
    command,
    args,
    env: { [KEY_VARIABLE]: `\${env:${KEY_VARIABLE}}` },
  }),
  http: (address) => ({ type: "http", url: address.url, headers: bearer(address, `\${env:${TOKEN_VARIABLE}}`) }),
  passesKey: true,
  check: 'the command "MCP: List Servers" in VS Code',
};

/** https://developers.openai.com/codex/mcp: it hands on no variable that is not named. */
const codex: Client = {
  name: "codex",
  title: "Codex",
  format: "toml",
  container: "mcp_servers",
  file: (place, scope) =>
    scope === "project"
      ? join(place.project, ".codex", "config.toml")
      : join(movable(place, "CODEX_HOME", join(place.home, ".codex")), "config.toml"),
  traces: (place) => [movable(place, "CODEX_HOME", join(place.home, ".codex"))],
  stdio: ({ command, args }) => ({ command, args, env_vars: [KEY_VARIABLE], tool_timeout_sec: PATIENCE_SECONDS }),
  http: (address) => ({
    url: address.url,
    ...(address.token === undefined ? { bearer_token_env_var: TOKEN_VARIABLE } : { http_headers: bearer(address, "") }),
    tool_timeout_sec: PATIENCE_SECONDS,
  }),
  passesKey: true,
  check: "codex mcp list",
};

/** https://geminicli.com/docs/tools/mcp-server: it keeps keys from its servers unless they are named. */
const geminiCli: Client = {
  name: "gemini-cli",
  title: "Gemini CLI",
  format: "json",
  container: "mcpServers",
  file: (place, scope) =>
    join(
      scope === "project" ? place.project : movable(place, "GEMINI_CLI_HOME", place.home),
      ".gemini",
      "settings.json",
    ),
  traces: (place) => [join(movable(place, "GEMINI_CLI_HOME", place.home), ".gemini")],
  stdio: ({ command, args }) => ({
    command,
    args,
    env: { [KEY_VARIABLE]: `$${KEY_VARIABLE}` },
    timeout: PATIENCE_SECONDS * 1_000,
  }),
  http: (address) => ({
    type: "http",
    url: address.url,
    headers: bearer(address, `$${TOKEN_VARIABLE}`),
    timeout: PATIENCE_SECONDS * 1_000,
  }),
  passesKey: true,
  check: "gemini mcp list",
};

export const CLIENTS: readonly Client[] = [claudeCode, claudeDesktop, cursor, vscode, codex, geminiCli];
