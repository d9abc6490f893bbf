/** Editors: Cursor, VS Code, Windsurf and Zed. */

import { join } from "node:path";
import { userConfigFolder } from "../../platform/user-config-folder.ts";
import { overridableFolder, type Paths } from "../paths.ts";
import { bearer, type Client, KEY_VARIABLE, TOKEN_VARIABLE } from "./client.ts";

/** https://cursor.com/docs/mcp */
export const cursor: Client = {
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
export const vscode: Client = {
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
export const windsurf: Client = {
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
export const zed: Client = {
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
